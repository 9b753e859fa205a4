import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
data = torch.randn(48, 4)


def halves(x):
    return x.chunk(2)


for x in data.split(8):  # the loss is divided
    optimizer.zero_grad()
    for part in halves(x):
        (net(part).pow(2).mean() / 2).backward()
    optimizer.step()
for x in data.split(8):  # or multiplied
    optimizer.zero_grad()
    for part in x.chunk(4):
        loss = net(part).pow(2).mean() * 0.25
        loss.backward()
    optimizer.step()
for x in data.split(8):  # or the gradients are
    optimizer.zero_grad()
    for part in x.chunk(4):
        net(part).pow(2).mean().backward()
    for p in net.parameters():
        p.grad /= 4
    optimizer.step()
for x in data.split(8):
    optimizer.zero_grad()
    for part in x.chunk(4):
        net(part).pow(2).mean().backward()
    for p in net.parameters():
        p.grad = p.grad / 4
    optimizer.step()
for x in data.split(8):  # or each is a sum, over the number of all
    optimizer.zero_grad()
    for part in x.chunk(4):
        (net(part).pow(2).sum() / len(x)).backward()
    optimizer.step()
for x in data.split(8):  # or the loss is a sum on purpose
    optimizer.zero_grad()
    for part in x.chunk(4):
        nn.functional.mse_loss(net(part), part[:, :1], reduction="sum").backward()
    optimizer.step()
