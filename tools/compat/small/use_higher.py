"""MAML: an inner loop that is differentiated through."""

import higher
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
outer, inner = torch.optim.Adam(model.parameters(), 0.01), torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
x, y = torch.randn(16, 4), torch.randn(16, 1)
for _ in range(8):
    outer.zero_grad()
    with higher.innerloop_ctx(model, inner, copy_initial_weights=False) as (fast, steps):
        for _ in range(3):
            steps.step(nn.functional.mse_loss(fast(x[:8]), y[:8]))
        nn.functional.mse_loss(fast(x[8:]), y[8:]).backward()
    outer.step()
