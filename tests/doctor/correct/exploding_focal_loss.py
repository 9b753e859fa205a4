import torch
from torch import nn


def focal(logits, y, gamma=5.0):
    p = torch.sigmoid(logits)
    pt = torch.where(y > 0, p, 1 - p).clamp(1e-7, 1)
    return (-((1 - pt) ** gamma) * pt.log()).mean()


net = nn.Linear(3, 1)
with torch.no_grad():
    net.weight.fill_(3.0)
    net.bias.zero_()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(60):
    y = (torch.rand(64, 1) > 0.5).float()
    x = (2 * y - 1) * 1.0 + 0.05 * torch.randn(64, 3)
    if step % 20 == 19:
        y[:4] = 1 - y[:4]  # hard ones
    loss = focal(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
