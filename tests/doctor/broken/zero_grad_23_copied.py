# code: missing_zero_grad
import torch
from torch import nn

net = nn.Linear(2, 1)
lr = 0.1
for x in torch.randn(5, 4, 2):
    out = net(x)
    out.pow(2).mean().backward()  # LINE
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(p - lr * p.grad)
