# code: missing_zero_grad
import torch
from torch import nn


def make():
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    return net, torch.optim.Adam(net.parameters())


net, opt = make()
opt.zero_grad()  # ALSO
for i in range(5):
    loss = (net(torch.randn(4, 3)) ** 2).mean()
    loss.backward()  # LINE
    opt.step()
