import heapq

import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
hardest = []
for i in range(20):
    x = torch.randn(4, 3)
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    heapq.heappush(hardest, (loss.item(), i, loss))
    if len(hardest) > 3:
        heapq.heappop(hardest)
