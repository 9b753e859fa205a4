# code: nan_origin
import torch
from torch import nn


def standardised(x, groups):
    out = []
    for g in groups.unique():
        part = x[groups == g]
        out.append((part - part.mean(0)) / part.std(0))  # LINE
    return torch.cat(out)


torch.manual_seed(0)
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(6):
    groups = torch.tensor([0, 0, 0, 1, 1, 1]) if i < 4 else torch.tensor([0, 0, 0, 1, 1, 2])
    z = standardised(net(torch.randn(6, 3)), groups)
    opt.zero_grad()
    (z - 1).abs().mean().backward()
    opt.step()
