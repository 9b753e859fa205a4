import torch
from torch import nn


class Att(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.src, self.dst, self.v = nn.Linear(d, 1), nn.Linear(d, 1), nn.Linear(d, d)

    def forward(self, h):
        e = self.src(h) + self.dst(h).squeeze(-1)
        a = nn.functional.leaky_relu(e, 0.2).softmax(-1)
        return a @ self.v(h)


att = Att(6)
opt = torch.optim.Adam(att.parameters())
for _ in range(5):
    h = torch.randn(9, 6)
    opt.zero_grad()
    (att(h) - h).pow(2).mean().backward()
    opt.step()
