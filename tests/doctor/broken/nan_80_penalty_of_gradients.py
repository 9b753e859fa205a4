# code: nan_origin
import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(critic.parameters(), lr=1e-3)


def penalty(real, fake):
    mix = (0.5 * real + 0.5 * fake).requires_grad_()
    (g,) = torch.autograd.grad(critic(mix).sum(), mix, create_graph=True)
    norm = g.pow(2).sum(1).sqrt()  # LINE
    return (norm - 1).pow(2).mean()


for step in range(25):
    real, fake = torch.randn(8, 2), torch.randn(8, 2)
    if step == 18:
        critic[0].bias.data.fill_(-100.0)
    loss = critic(fake).mean() - critic(real).mean() + 10 * penalty(real, fake)
    opt.zero_grad()
    loss.backward()
    opt.step()
