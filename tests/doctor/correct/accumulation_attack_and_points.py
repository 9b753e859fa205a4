import torch
from torch import nn

# Points that require grad, a part of the batch at a time, and each part has its share.
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(5):
    optimizer.zero_grad()
    parts = torch.randn(24, 2).chunk(3)
    for part in parts:
        points = part.clone().requires_grad_()
        value = net(points)
        (slope,) = torch.autograd.grad(value.sum(), points, create_graph=True)
        ((slope.norm(dim=1) - 1).pow(2).mean() / len(parts)).backward()
    optimizer.step()
