# code: exploding_gradient
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
for i in range(12):
    x = torch.randn(64, 4)
    y = x.sum(1, keepdim=True)
    if i == 9:
        y[17] = 3e4  # typed without the decimal point
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()  # LINE
    optimizer.step()
