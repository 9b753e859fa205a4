"""The trace lives in .grad itself: it decays in place instead of being zeroed."""

import torch
from torch import nn

torch.manual_seed(0)
v = nn.Linear(3, 1)
s = torch.randn(3)
for t in range(60):
    n = 0.9 * s + 0.3 * torch.randn(3)
    for p in v.parameters():
        if p.grad is not None:
            p.grad.mul_(0.76)
    value = v(s).squeeze()
    value.backward()
    with torch.no_grad():
        delta = 0.1 + 0.95 * v(n).squeeze() - value
        for p in v.parameters():
            p.add_(p.grad, alpha=1e-2 * delta.item())
    s = n
