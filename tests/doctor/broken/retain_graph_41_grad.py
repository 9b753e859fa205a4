# code: retain_graph_leak
import torch
from torch import nn

net = nn.Linear(3, 1)


def gradients(loss):
    return torch.autograd.grad(loss, list(net.parameters()), retain_graph=True)  # LINE


for i in range(8):
    x = torch.randn(6, 3)
    for p, g in zip(net.parameters(), gradients(net(x).square().mean())):
        p.data.sub_(0.1 * g)
