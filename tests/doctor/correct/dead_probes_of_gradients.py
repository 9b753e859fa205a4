import torch
from torch import nn

trunk = nn.Sequential(nn.Linear(4, 6), nn.ReLU())
heads = nn.ModuleList([nn.Linear(6, 1), nn.Linear(6, 1)])
opt = torch.optim.SGD([*trunk.parameters(), *heads.parameters()], lr=0.05)
for step in range(8):
    x = torch.randn(10, 4)
    h = trunk(x)
    losses = [(heads[0](h) - 1).pow(2).mean(), torch.relu(heads[1](h) - 50).mean() + 0.1]
    norms = [torch.autograd.grad(loss, trunk[0].weight, retain_graph=True)[0].norm().item() for loss in losses]
    opt.zero_grad()
    sum(losses).backward()
    opt.step()
w = torch.zeros(3, requires_grad=True)
v = torch.zeros(3, requires_grad=True)
for step in range(8):
    loss = (w * v).sum() + (w - 1).pow(2).sum()
    gw, gv = torch.autograd.grad(loss, (w, v))
    with torch.no_grad():
        w -= 0.1 * gw
        v -= 0.1 * gv
