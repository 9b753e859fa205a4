import torch
from torch import nn


def finite(params):
    return all(torch.isfinite(p.grad).all() for p in params)


class Loop:
    def __init__(self):
        self.w = nn.Parameter(torch.tensor([0.0, 2.0]))
        self.opt = torch.optim.Adam([self.w])
        self.skipped = 0

    def step(self):
        self.opt.zero_grad()
        self.w.clamp(min=0).pow(0.5).sum().backward()
        if finite([self.w]):
            self.opt.step()
        else:
            self.skipped += 1


loop = Loop()
for _ in range(4):
    loop.step()
