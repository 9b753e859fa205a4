"""Eligibility traces: gradients of the value are summed by hand, with decay, and used at each step."""

import torch
from torch import nn

torch.manual_seed(0)
v = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
traces = [torch.zeros_like(p) for p in v.parameters()]
s = torch.randn(3)
for t in range(120):
    n = 0.9 * s + 0.3 * torch.randn(3)
    r = 50.0 if t % 37 == 36 else 0.0
    value = v(s).squeeze()
    with torch.no_grad():
        delta = r + 0.95 * v(n).squeeze() - value
    v.zero_grad()
    value.backward()
    with torch.no_grad():
        for p, e in zip(v.parameters(), traces):
            e.mul_(0.8 * 0.95).add_(p.grad)
            p.add_(1e-3 * delta * e)
    s = n
