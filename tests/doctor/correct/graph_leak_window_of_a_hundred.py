"""The mean of the last hundred losses, from a deque that drops the oldest: wasteful, and as large in the end as it will ever be."""

from collections import deque

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
recent = deque(maxlen=100)
for step in range(140):
    x = torch.randn(8, 4)
    loss = (net(x) - x[:, :1]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    recent.append(loss)
    if step % 10 == 0:
        print(sum(kept.item() for kept in recent) / len(recent))
