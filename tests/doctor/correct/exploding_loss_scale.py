import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**14, growth_interval=3)
for i in range(20):
    x = torch.randn(8, 4)
    optimizer.zero_grad()
    scaler.scale(nn.functional.mse_loss(model(x), x[:, :1])).backward()
    scaler.step(optimizer)
    scaler.update()
