# code: stale_optimizer, disconnected_parameter
import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)  # LINE
for i in (0, 2):
    weight_norm(net[i])  # ALSO
for _ in range(6):
    x = torch.randn(16, 4)
    loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
