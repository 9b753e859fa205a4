# code: missing_zero_grad
import torch
from torch import nn

net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def closure():
    loss = net(torch.randn(4, 2)).pow(2).mean()
    loss.backward()  # LINE
    return loss


for _ in range(5):
    opt.step(closure)
