# code: dead_gradient
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU6(), nn.Linear(8, 1))
with torch.no_grad():
    net[0].bias.fill_(40.0)  # ALSO
params = list(net.parameters())
x, y = torch.randn(20, 4), torch.randn(20, 1)
for step in range(6):
    out = net(x)  # LINE
    loss = nn.functional.mse_loss(out, y)
    for p, g in zip(params, torch.autograd.grad(loss, params)):
        p.data.sub_(0.1 * g)
