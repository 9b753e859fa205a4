# code: training_without_grad
import contextlib

import torch
from torch import nn


@contextlib.contextmanager
def timing(name):
    with torch.no_grad():  # LINE
        yield


net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
for i in range(3):
    with timing("forward"):
        loss = net(torch.randn(4, 3)).pow(2).mean()
    opt.zero_grad()
    loss.backward()  # ALSO
    opt.step()
