import torch
from torch import nn

net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(6):
    total = torch.tensor(0.0, requires_grad=True)
    for x in torch.randn(3, 4, 3):
        total = total + net(x).square().mean() / 3
    opt.zero_grad()
    total.backward()
    opt.step()
