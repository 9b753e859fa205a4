# code: retain_graph_leak
import torch
from torch import nn

trunk, a, b = nn.Linear(3, 6), nn.Linear(6, 1), nn.Linear(6, 1)
params = [*trunk.parameters(), *a.parameters(), *b.parameters()]
optimizer = torch.optim.SGD(params, lr=0.01)
for _ in range(6):
    x = torch.randn(5, 3)
    h = trunk(x).relu()
    first, second = a(h).pow(2).mean(), (b(h) - 1).pow(2).mean()
    optimizer.zero_grad()
    first.backward(retain_graph=True)
    second.backward(retain_graph=True)  # LINE
    optimizer.step()
