# code: missing_zero_grad
import torch
from torch import nn

net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
k = 2
for i in range(12):
    loss = net(torch.randn(4, 2)).pow(2).mean() / k
    loss.backward()  # LINE
    if (i + 1) % k == 0:
        opt.step()
