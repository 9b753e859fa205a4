# code: missing_zero_grad
import torch
from torch import nn


class Step:
    """A context manager that should start and end a step."""

    def __init__(self, opt):
        self.opt = opt

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is not None:
            self.opt.zero_grad()
        else:
            self.opt.step()


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 6), nn.ELU(), nn.Linear(6, 1))
opt = torch.optim.Adagrad(net.parameters(), lr=0.05)
for _ in range(8):
    with Step(opt):
        x = torch.randn(8, 3)
        (net(x) - x[:, :1]).pow(2).mean().backward()  # LINE
