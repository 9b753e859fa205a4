import torch
from torch import nn

net = nn.Linear(4, 4)
nn.init.eye_(net.weight)  # writes to a view that was made where nothing is recorded
with torch.no_grad():
    corner = net.weight[:2, :2]
    corner.zero_()
    print((net.weight.diagonal() > 0).sum().item(), (corner.float() > 0).any().item())
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    (net(torch.randn(8, 4)) - 1).pow(2).mean().backward()
    optimizer.step()
    print((net.weight.detach().diagonal() > 0).sum().item(), int(net.weight.argmax()))
