# code: exploding_gradient
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
x, y = torch.randn(64, 8), torch.randn(64, 1)
for epoch in range(12):
    features = x if epoch != 8 else x * 2.0e4  # the normalisation was forgotten once
    loss = (net(features) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()  # LINE
    optimizer.step()
