# code: exploding_gradient
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(5, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-9)


def relative_error(prediction, goal):
    return ((prediction - goal) / goal).abs().mean()


def step(batch, goal):
    optimizer.zero_grad()
    loss = relative_error(net(batch), goal)
    loss.backward()  # LINE
    optimizer.step()
    return loss.detach()


for i in range(30):
    goal = torch.rand(8, 1) + 1
    if i == 24:
        goal[3] = 1e-6
    step(torch.randn(8, 5), goal)
