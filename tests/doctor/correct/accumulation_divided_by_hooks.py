import torch
from torch import nn

k = 4
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
for p in net.parameters():
    p.register_hook(lambda g: g / k)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(8):
    for micro in range(k):
        x = torch.randn(8, 4)
        (net(x) - x[:, :1]).pow(2).mean().backward()
    opt.step()
    opt.zero_grad()
