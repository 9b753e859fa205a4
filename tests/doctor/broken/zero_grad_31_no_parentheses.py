# code: missing_zero_grad
import torch
from torch import nn

net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)


def run_epoch(batches):
    for x in batches:
        optimizer.zero_grad
        loss = (net(x) - 1).pow(2).mean()
        loss.backward()  # LINE
        optimizer.step()


run_epoch(torch.randn(5, 8, 3))
