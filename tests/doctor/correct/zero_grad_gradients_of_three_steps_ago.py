"""Stale gradients on purpose: a simulated asynchronous server applies those of three steps ago."""

from collections import deque

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(5, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
late = deque()
for step in range(20):
    x = torch.randn(16, 5)
    loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
    late.append(torch.autograd.grad(loss, list(net.parameters())))
    if len(late) > 3:
        for p, g in zip(net.parameters(), late.popleft()):
            p.grad = g
        opt.step()
