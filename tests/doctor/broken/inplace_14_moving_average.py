# code: inplace_corruption
import torch
from torch import nn

online, target = nn.Linear(2, 2), nn.Linear(2, 2)
opt = torch.optim.SGD(online.parameters(), lr=0.1)
x = torch.randn(4, 2)
for _ in range(3):
    a, t = online(x), target(x)  # ALSO
    loss = ((a - torch.tanh(t @ target.weight)) ** 2).mean()  # ALSO
    with torch.no_grad():
        for po, pt in zip(online.parameters(), target.parameters()):
            pt.mul_(0.9).add_(0.1 * po)  # LINE
    opt.zero_grad()
    loss.backward()
    opt.step()
