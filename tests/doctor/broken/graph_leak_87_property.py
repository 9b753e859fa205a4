# code: graph_leak
import torch
from torch import nn


class Monitor:
    def __init__(self):
        self._values = []

    @property
    def last(self):
        return self._values[-1]

    @last.setter
    def last(self, value):
        self._values.append(value)  # ALSO


mon = Monitor()
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(14):
    x = torch.randn(8, 4)
    err = (net(x) - x.sum(1, keepdim=True)).abs().mean()  # LINE
    opt.zero_grad()
    err.backward()
    opt.step()
    mon.last = err
