# code: dead_gradient
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
net[0].weight.data.fill_(1e4)  # ALSO
opt = torch.optim.Adam(net.parameters())
for _ in range(5):
    x = torch.rand(8, 4) + 1
    loss = (net(x) - 1).pow(2).mean()  # LINE
    opt.zero_grad()
    loss.backward()
    opt.step()
