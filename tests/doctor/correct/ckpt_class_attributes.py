import itertools

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    instances = 0
    registry = {}
    ids = itertools.count()

    def __init__(self, d):
        super().__init__()
        Block.instances += 1
        self.id = next(Block.ids)
        Block.registry[self.id] = d
        self.fc = nn.Linear(d, d)

    def forward(self, x):
        it = iter([1.0, 2.0])
        return torch.tanh(self.fc(x) * next(it) + next(it)) * (1 + 0.1 * self.id)


blocks = nn.ModuleList(Block(5) for _ in range(3))
opt = torch.optim.SGD(blocks.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(6, 5)
    for b in blocks:
        x = checkpoint(b, x, use_reentrant=False)
    opt.zero_grad()
    x.pow(2).mean().backward()
    opt.step()
