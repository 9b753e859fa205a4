# code: silent_broadcast_loss
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
x, y = torch.randn(24, 4), torch.randn(24)
for _ in range(4):
    opt.zero_grad()
    loss = torch.norm(net(x) - y)  # LINE
    loss.backward()
    opt.step()
