# code: dead_gradient
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
nn.init.constant_(net[0].bias, -100.0)  # ALSO
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    x = torch.randn(16, 4)
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), x[:, :1])  # LINE
    loss.backward()
    optimizer.step()
