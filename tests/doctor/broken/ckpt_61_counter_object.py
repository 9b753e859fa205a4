# code: checkpoint_side_effects
import itertools

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

counter = itertools.count()
fc = nn.Linear(4, 4)


def block(x):
    k = next(counter)  # ALSO
    return torch.tanh(fc(x) * (1 + 0.1 * (k % 3)))


opt = torch.optim.SGD(fc.parameters(), lr=0.1)
for _ in range(4):
    opt.zero_grad()
    out = checkpoint(block, torch.randn(5, 4), use_reentrant=False)  # LINE
    out.pow(2).mean().backward()
    opt.step()
