# code: silent_broadcast_loss
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
for _ in range(12):
    x = torch.randn(16, 3)
    y = x.sum(1)
    p = net(x)
    loss = (p - y).norm() / 4  # LINE
    opt.zero_grad()
    loss.backward()
    opt.step()
