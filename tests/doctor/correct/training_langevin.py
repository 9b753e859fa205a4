import torch
from torch import nn

energy = nn.Sequential(nn.Linear(2, 16), nn.SiLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(energy.parameters(), lr=1e-3)
chains = torch.randn(16, 2)
for _ in range(6):
    x = chains.clone()
    for _ in range(5):
        x.requires_grad_(True)
        (g,) = torch.autograd.grad(energy(x).sum(), x)
        x = (x - 0.1 * g + 0.05 * torch.randn_like(x)).detach()
    chains = x
    real = torch.randn(16, 2) + 2
    loss = energy(real).mean() - energy(chains).mean() + 0.1 * (energy(real).square().mean() + energy(chains).square().mean())
    opt.zero_grad()
    loss.backward()
    opt.step()
