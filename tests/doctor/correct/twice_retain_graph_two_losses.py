import torch
from torch import nn

body, a, b = nn.Linear(4, 8), nn.Linear(8, 1), nn.Linear(8, 1)
optimizer = torch.optim.SGD([*body.parameters(), *a.parameters(), *b.parameters()], lr=0.05)
for _ in range(5):
    optimizer.zero_grad()
    h = torch.tanh(body(torch.randn(6, 4)))
    a(h).pow(2).mean().backward(retain_graph=True)
    b(h).abs().mean().backward()
    optimizer.step()
