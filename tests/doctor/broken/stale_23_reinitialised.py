# code: stale_optimizer
import torch
from torch import nn

net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)  # LINE
for m in net:
    if isinstance(m, nn.Linear):
        m.weight = nn.Parameter(torch.randn_like(m.weight))  # ALSO
        m.bias = nn.Parameter(torch.zeros_like(m.bias))
for _ in range(4):
    opt.zero_grad()
    net(torch.randn(4, 3)).pow(2).mean().backward()
    opt.step()
