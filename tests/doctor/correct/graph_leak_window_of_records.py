"""The last twenty steps are kept for a look at them, as records."""

from collections import deque
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Record:
    step: int
    loss: torch.Tensor


class Log:
    def __init__(self):
        self.records, self.pairs = deque(maxlen=20), deque(maxlen=30)

    def write(self, step, loss, output):
        self.records.append(Record(step, loss))
        self.pairs.append((step, {"output": output}))


torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
log = Log()
for step in range(50):
    x = torch.randn(8, 4)
    output = net(x)
    loss = output.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    log.write(step, loss, output)
