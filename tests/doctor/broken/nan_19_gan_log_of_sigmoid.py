# code: nan_origin
import torch
from torch import nn

torch.manual_seed(0)
G, D = nn.Linear(2, 2), nn.Linear(2, 1)
opt_g = torch.optim.SGD(G.parameters(), lr=0.1)
opt_d = torch.optim.SGD(D.parameters(), lr=0.1)


def d_loss(real, fake):
    p_real, p_fake = torch.sigmoid(D(real) * 100), torch.sigmoid(D(fake) * 100)
    return -(torch.log(p_real) + torch.log(1 - p_fake)).mean()  # LINE


for step in range(20):
    real, noise = torch.randn(16, 2) * 5, torch.randn(16, 2) * 5
    opt_d.zero_grad()
    d_loss(real, G(noise).detach()).backward()
    opt_d.step()
    opt_g.zero_grad()
    nn.functional.softplus(-D(G(noise))).mean().backward()
    opt_g.step()
