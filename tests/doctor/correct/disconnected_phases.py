import copy

import torch
from torch import nn

torch.manual_seed(0)
online = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
target = copy.deepcopy(online)
optimizer = torch.optim.Adam(online.parameters())
for _ in range(8):
    x = torch.randn(5, 4)
    with torch.no_grad():
        goal = target(x)
    optimizer.zero_grad()
    nn.functional.mse_loss(online(x), goal + 0.1).backward()
    optimizer.step()
    with torch.no_grad():
        for p, q in zip(target.parameters(), online.parameters()):
            p.lerp_(q, 0.01)

# a second phase trains the last layer only; the optimizer of the first is gone
optimizer = torch.optim.SGD(online[2].parameters(), lr=0.1)
for _ in range(5):
    x = torch.randn(5, 4)
    optimizer.zero_grad()
    online(x).pow(2).mean().backward()
    optimizer.step()
