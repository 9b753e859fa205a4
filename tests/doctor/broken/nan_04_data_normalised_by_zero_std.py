# code: nan_origin
import torch
from torch import nn

data = torch.randn(16, 3)
data[:, 1] = 4.0
mean, std = data.mean(0), data.std(0)
x = (data - mean) / std  # LINE
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
y = torch.randn(16, 1)
for epoch in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
