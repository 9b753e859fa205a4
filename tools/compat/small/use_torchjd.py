"""Several losses at once, their gradients brought together by an aggregator."""

import torch
import torchjd
from torch import nn
from torchjd.aggregation import MGDA, Mean

x, y = torch.randn(16, 6), torch.randn(16, 2)
for aggregator in (Mean(), MGDA()):
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(5):
        parts = (model(x) - y).square().mean(0)
        optimizer.zero_grad()
        torchjd.autojac.backward(list(parts))
        torchjd.autojac.jac_to_grad(model.parameters(), aggregator)
        optimizer.step()
        (model(x) - y).square().mean().mul(0.1).backward()
