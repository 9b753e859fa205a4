# code: nan_origin
import torch
from torch import nn

enc = nn.Sequential(nn.Linear(4, 3), nn.ReLU())
nn.init.constant_(enc[0].bias, -50.0)
opt = torch.optim.Adam(enc.parameters())


def cosine(a, b):
    return (a * b).sum(1) / (a.norm(dim=1) * b.norm(dim=1))  # LINE


for _ in range(3):
    x = torch.randn(5, 4)
    loss = 1 - cosine(enc(x), enc(x + 0.1)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
