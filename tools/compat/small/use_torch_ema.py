"""An average of parameters, used in place of them for a while."""

import torch
from torch import nn
from torch_ema import ExponentialMovingAverage

model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
average = ExponentialMovingAverage(model.parameters(), decay=0.9)
optimizer = torch.optim.Adam(model.parameters(), 0.02)
x, y = torch.randn(16, 6), torch.randn(16, 1)
for _ in range(10):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.update()
average.load_state_dict(average.state_dict())
with average.average_parameters():
    nn.functional.mse_loss(model(x), y).backward()
nn.functional.mse_loss(model(x), y).backward()
