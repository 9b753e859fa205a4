import torch
from torch import nn

torch.manual_seed(0)
cell = nn.GRU(3, 5)
out = nn.Linear(5, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *out.parameters()], lr=0.01)
for _ in range(4):
    sequence = torch.randn(20, 2, 3)
    h = torch.zeros(1, 2, 5)
    optimizer.zero_grad()
    for part in sequence.split(5):
        y, h = cell(part, h.detach())
        out(y).pow(2).mean().backward()
    optimizer.step()
