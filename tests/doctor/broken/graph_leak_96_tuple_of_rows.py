# code: graph_leak
import collections

import torch
from torch import nn

torch.manual_seed(0)
Row = collections.namedtuple("Row", "step loss accuracy")


class Table:
    rows: tuple = ()

    def add(self, *values):
        self.rows += (Row(*values),)  # ALSO


table = Table()
net = nn.Sequential(nn.Linear(5, 9), nn.ReLU(), nn.Linear(9, 3))
opt = torch.optim.Adam(net.parameters())
for step in range(24):
    x, y = torch.randn(16, 5), torch.randint(0, 3, (16,))
    logits = net(x)
    loss = nn.functional.cross_entropy(logits, y, label_smoothing=0.1)  # LINE
    opt.zero_grad()
    loss.backward()
    opt.step()
    table.add(step, loss, (logits.argmax(1) == y).float().mean())
