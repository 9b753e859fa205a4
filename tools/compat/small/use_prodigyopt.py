"""An optimizer that finds its own step size."""

import torch
from prodigyopt import Prodigy
from torch import nn

model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = Prodigy(model.parameters(), lr=1.0, weight_decay=0.01)
x, y = torch.randn(32, 6), torch.randn(32, 1)
for _ in range(20):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
