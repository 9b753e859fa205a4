# code: silent_broadcast_loss
import torch
from torch import nn

net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    x, y, weight = torch.randn(6, 4), torch.randint(0, 3, (6,)), torch.rand(6, 1)
    per_sample = nn.functional.cross_entropy(net(x), y, reduction="none")
    loss = (per_sample * weight).mean()  # LINE
    opt.zero_grad()
    loss.backward()
    opt.step()
