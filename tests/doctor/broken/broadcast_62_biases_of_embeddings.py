# code: silent_broadcast_loss
import torch
from torch import nn


class MF(nn.Module):
    def __init__(self, users, items, k=4):
        super().__init__()
        self.u, self.i = nn.Embedding(users, k), nn.Embedding(items, k)
        self.bu, self.bi = nn.Embedding(users, 1), nn.Embedding(items, 1)

    def forward(self, u, i):
        dot = (self.u(u) * self.i(i)).sum(1)
        return dot + self.bu(u) + self.bi(i)  # LINE


mf = MF(10, 12)
opt = torch.optim.Adam(mf.parameters(), lr=1e-2)
for step in range(5):
    u, i, r = torch.randint(0, 10, (16,)), torch.randint(0, 12, (16,)), torch.rand(16)
    loss = (mf(u, i) - r).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
