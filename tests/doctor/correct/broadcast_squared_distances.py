import torch
from torch import nn

torch.manual_seed(0)
enc = nn.Linear(5, 3)
opt = torch.optim.Adam(enc.parameters(), lr=1e-2)


def squared_distances(a, b):
    return a.pow(2).sum(1, keepdim=True) + b.pow(2).sum(1) - 2 * (a @ b.T)


def mmd(a, b, width=1.0):
    k = lambda u, v: torch.exp(-squared_distances(u, v) / width).mean()
    return k(a, a) + k(b, b) - 2 * k(a, b)


for _ in range(15):
    z = enc(torch.randn(16, 5))
    prior = torch.randn(16, 3)
    spread = squared_distances(z, z).clamp(min=0).mean()
    loss = mmd(z, prior) + 1e-3 * spread + 1e-3 * squared_distances(prior, z).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
