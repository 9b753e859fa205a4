"""A physical loss: the boundary term weighs more and more."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)


class Weights:
    stages = [(0, 1e-4), (10, 1e-1), (20, 100.0)]

    def at(self, t):
        return [w for start, w in self.stages if t >= start][-1]


weights = Weights()
for t in range(30):
    x = torch.rand(32, 1, requires_grad=True)
    u = net(x)
    (ux,) = torch.autograd.grad(u.sum(), x, create_graph=True)
    residual = (ux - 0.01 * u).pow(2).mean()
    boundary = (net(torch.zeros(1, 1)) - 1).pow(2).mean()
    opt.zero_grad()
    (1e-4 * residual + weights.at(t) * boundary).backward()
    opt.step()
