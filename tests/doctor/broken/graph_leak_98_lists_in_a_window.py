# code: graph_leak
from collections import deque

import torch
from torch import nn

torch.manual_seed(0)
episodes = deque([[]], maxlen=10)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(60):
    loss = (net(torch.randn(8, 4)) - 1).abs().mean()  # LINE
    opt.zero_grad()
    loss.backward()
    opt.step()
    episodes[-1].append(loss)  # ALSO
