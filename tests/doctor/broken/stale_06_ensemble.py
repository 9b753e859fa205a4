# code: stale_optimizer
import copy

import torch
from torch import nn

torch.manual_seed(0)
members = [nn.Linear(3, 1) for _ in range(2)]
optimizers = [torch.optim.SGD(m.parameters(), lr=0.1) for m in members]  # LINE
members = [copy.deepcopy(m) for m in members]  # ALSO
for epoch in range(4):
    x = torch.randn(6, 3)
    for member, optimizer in zip(members, optimizers):
        optimizer.zero_grad()
        loss = (member(x).squeeze(1) - x[:, 0]).pow(2).mean()
        loss.backward()
        optimizer.step()
