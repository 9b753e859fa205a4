import torch
from torch import nn

torch.manual_seed(0)
u = nn.Parameter(1e-4 * torch.randn(6, 3))
v = nn.Parameter(1e-4 * torch.randn(5, 3))
goal = torch.randn(6, 3) @ torch.randn(3, 5)
optimizer = torch.optim.Adam([u, v], lr=0.1)
for _ in range(30):  # products of small factors: gradients grow with them
    optimizer.zero_grad()
    (u @ v.t() - goal).pow(2).mean().backward()
    optimizer.step()


def train(scale, steps):
    net = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3 / scale**2)
    for _ in range(steps):
        x = scale * torch.randn(8, 3)
        optimizer.zero_grad()
        (net(x) - x[:, :1]).pow(2).mean().backward()
        optimizer.step()


train(1.0, 8)
train(100.0, 8)  # another model, whose gradients are larger from the start
