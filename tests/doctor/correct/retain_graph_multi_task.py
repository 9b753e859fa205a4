import torch
from torch import nn

trunk = nn.Sequential(nn.Linear(5, 8), nn.ReLU())
heads = nn.ModuleList([nn.Linear(8, 1) for _ in range(3)])
optimizer = torch.optim.Adam([*trunk.parameters(), *heads.parameters()], lr=1e-3)
for step in range(6):
    shared = trunk(torch.randn(4, 5))
    optimizer.zero_grad()
    for head in heads:
        head(shared).pow(2).mean().backward(retain_graph=True)
    optimizer.step()
for step in range(6):
    shared = trunk(torch.randn(4, 5))
    losses = [head(shared).pow(2).mean() for head in heads]
    optimizer.zero_grad()
    for i, loss in enumerate(losses):
        loss.backward(retain_graph=i + 1 < len(losses))
    optimizer.step()
