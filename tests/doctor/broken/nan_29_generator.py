# code: nan_origin
import torch
from torch import nn


def batches():
    for i in range(6):
        x = torch.randn(4, 2)
        if i == 3:
            x = torch.log(x)  # LINE
        yield x, torch.randn(4, 1)


m = nn.Linear(2, 1)
o = torch.optim.SGD(m.parameters(), lr=0.1)
for x, y in batches():
    o.zero_grad()
    ((m(x) - y) ** 2).mean().backward()
    o.step()
