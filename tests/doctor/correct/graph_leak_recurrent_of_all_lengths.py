import random

import torch
from torch import nn

# Sequences of any length: the number of living nodes goes up and down, and nothing is kept.
random.seed(0)
cell, out = nn.GRUCell(2, 4), nn.Linear(4, 1)
optimizer = torch.optim.Adam([*cell.parameters(), *out.parameters()])
recent = []
for step in range(120):
    h = torch.zeros(3, 4)
    for _ in range(random.randint(1, 12)):
        h = cell(torch.randn(3, 2), h)
    loss = out(h).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    recent = [*recent[-3:], loss]
