# code: nan_origin, exploding_gradient
import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=1e3)
x, y = torch.randn(10, 2), torch.randn(10, 1)
for _ in range(40):
    opt.zero_grad()
    loss = ((net(x) - y) ** 2).mean()  # LINE
    loss.backward()  # LINE
    opt.step()
