import torch
from torch import nn

torch.manual_seed(0)
gen, critic = nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
og, oc = torch.optim.RMSprop(gen.parameters(), lr=5e-4), torch.optim.RMSprop(critic.parameters(), lr=5e-4)


def noise(n=16):
    return torch.randn(n, 2)


for it in range(12):
    for p in critic.parameters():
        p.requires_grad_(True)
    for _ in range(3):
        oc.zero_grad()
        (critic(gen(noise()).detach()).mean() - critic(noise() + 3).mean()).backward()
        oc.step()
        for p in critic.parameters():
            p.data.clamp_(-0.05, 0.05)
    for p in critic.parameters():
        p.requires_grad_(False)
    og.zero_grad()
    (-critic(gen(noise())).mean()).backward()
    og.step()
