import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(32, 3)


def fit(goal, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        (net(x) - goal).pow(2).mean().backward()
        optimizer.step()


fit(x[:, :1], 150)  # gradients have become tiny when the task changes
fit(x[:, 1:2] + 1, 20)
