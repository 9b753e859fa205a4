# code: dtype_cut, dead_gradient
import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    x = torch.rand(10, 3)
    slot = torch.div(net(x), 0.25, rounding_mode="floor")  # LINE
    loss = (slot - 2).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
