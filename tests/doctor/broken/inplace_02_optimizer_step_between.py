# code: inplace_corruption
import torch
from torch import nn

net = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
x = torch.randn(7, 3)
out = net(x)  # ALSO
first, second = out.mean(), out.pow(2).mean()
optimizer.zero_grad()
first.backward(retain_graph=True)
optimizer.step()  # LINE
optimizer.zero_grad()
second.backward()
optimizer.step()
