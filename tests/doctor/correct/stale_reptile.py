import copy

import torch
from torch import nn

torch.manual_seed(0)
meta = nn.Linear(3, 1)
outer = torch.optim.Adam(meta.parameters(), lr=1e-2)
for _ in range(5):
    learner = copy.deepcopy(meta)  # made after the optimizer, and not its business
    inner = torch.optim.SGD(learner.parameters(), lr=0.1)
    for _ in range(3):
        x = torch.randn(6, 3)
        inner.zero_grad()
        (learner(x) - x[:, :1]).pow(2).mean().backward()
        inner.step()
    outer.zero_grad()
    for p, q in zip(meta.parameters(), learner.parameters()):
        p.grad = p.data - q.data
    outer.step()
for _ in range(5):  # the same with gradients of the copy
    learner = copy.deepcopy(meta)
    x = torch.randn(6, 3)
    (learner(x) - x[:, :1]).pow(2).mean().backward()
    for p, q in zip(meta.parameters(), learner.parameters()):
        p.grad = q.grad.clone()
    outer.step()
