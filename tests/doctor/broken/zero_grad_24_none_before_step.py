# code: missing_zero_grad
import torch
from torch import nn

net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.randn(5, 4, 2):
    opt.zero_grad()
    loss = net(x).pow(2).mean()
    loss.backward()
    for p in net.parameters():
        p.grad = None
    opt.step()  # LINE
