# code: dead_gradient
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 6), nn.Hardtanh(), nn.Linear(6, 1))
with torch.no_grad():
    net[0].bias += 50.0  # ALSO
opt = torch.optim.SGD(net.parameters(), lr=0.01)


def step(x):
    out = net(x)  # LINE
    loss = out.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


for _ in range(5):
    step(torch.randn(8, 3))
