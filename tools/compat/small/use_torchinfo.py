"""Summaries of models: shapes, parameters and operations, from a forward pass."""

import torch
from torch import nn
from torchinfo import summary

model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 5))
found = summary(model, (2, 3, 8, 8), verbose=0, col_names=("input_size", "output_size", "num_params", "mult_adds"))
recurrent = nn.LSTM(4, 6, batch_first=True)
second = summary(recurrent, (2, 5, 4), verbose=0)
print(found, second)
loss = model(torch.randn(2, 3, 8, 8)).square().mean() * found.total_params + second.total_mult_adds
loss.backward()
