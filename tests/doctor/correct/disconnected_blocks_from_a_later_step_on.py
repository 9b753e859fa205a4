"""Members that are gone over now, and used from a later step on: by a variable of the loop, by the number of the round."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.first = nn.Linear(d, d)
        self.rest = nn.ModuleList(nn.Linear(d, d) for _ in range(2))
        self.heads = nn.ModuleList(nn.Linear(d, 1) for _ in range(2))
        self.depth = 0

    def forward(self, x):
        x = self.first(x).relu()
        for i, layer in enumerate(self.rest):
            if i < self.depth:
                x = x + layer(x).relu()
        for i in range(len(self.heads)):
            if i == min(self.depth, 1):
                return self.heads[i](x)


torch.manual_seed(0)
net = Net(5)
opt = torch.optim.Adam(net.parameters())
for step in range(24):
    net.depth = step // 8
    opt.zero_grad()
    net(torch.randn(8, 5)).pow(2).mean().backward()
    opt.step()
