"""The losses of a round are a tuple that the next round replaces, while generators compute that one by one."""

import torch
from torch import nn

torch.manual_seed(0)


def train(net, n):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for i in range(n):
        loss = net(torch.randn(8, 3)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        yield i, loss


for rows in zip(*(train(nn.Linear(3, 1), 20) for _ in range(12))):
    print(float(sum(loss for _, loss in rows)))
