# The loss is a sum of more terms than the interpreter has frames.
import torch
from torch import nn

net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=1e-4)
for _ in range(3):
    loss = net(torch.randn(4, 2)).mean()
    for x in torch.randn(3000, 2):
        loss = loss + x.sum() * net.bias.sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
