# code: stale_optimizer
import copy

import torch
from torch import nn

torch.manual_seed(0)
base = nn.Linear(3, 1)
optimizer = torch.optim.Adam(base.parameters(), lr=1e-2)  # LINE
model = copy.deepcopy(base)  # ALSO
for _ in range(5):
    x = torch.randn(8, 3)
    loss = (model(x) - x[:, :1]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
