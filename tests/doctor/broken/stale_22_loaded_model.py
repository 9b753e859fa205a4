# code: stale_optimizer
import io

import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)  # LINE
buffer = io.BytesIO()
torch.save(net, buffer)
buffer.seek(0)
net = torch.load(buffer, weights_only=False)  # ALSO
for _ in range(4):
    opt.zero_grad()
    net(torch.randn(4, 3)).pow(2).mean().backward()
    opt.step()
