import torch
from torch import nn

torch.manual_seed(0)
enc = nn.Linear(5, 3)
opt = torch.optim.Adam(enc.parameters(), lr=1e-2)
for _ in range(15):
    z = enc(torch.randn(12, 5))
    n = z.norm(dim=1)
    cos = (z @ z.T) / (n[:, None] * n)
    other = torch.mm(z, z.t()) / (z.norm(dim=1, keepdim=True) * n)
    loss = (cos - torch.eye(12)).pow(2).mean() + other.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
