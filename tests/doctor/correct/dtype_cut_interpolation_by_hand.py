import torch
from torch import nn


class Warp(nn.Module):
    """Reads a signal between its samples: floor gives the index, the rest is the weight."""

    def __init__(self, n):
        super().__init__()
        self.shift = nn.Parameter(torch.tensor(0.3))
        self.scale = nn.Parameter(torch.tensor(1.01))
        self.register_buffer("grid", torch.arange(n, dtype=torch.float32))

    def forward(self, s):
        at = self.grid * self.scale + self.shift
        low = at.floor()
        weight = at - low
        i = low.long().clamp(0, len(s) - 2)
        return s[i] * (1 - weight) + s[i + 1] * weight


torch.manual_seed(0)
signal = torch.sin(torch.linspace(0, 6, 40))
goal = torch.sin(torch.linspace(0, 6, 40) + 0.2)
warp = Warp(40)
opt = torch.optim.Adam(warp.parameters(), lr=1e-2)
for _ in range(12):
    opt.zero_grad()
    (warp(signal) - goal).pow(2).mean().backward()
    opt.step()
