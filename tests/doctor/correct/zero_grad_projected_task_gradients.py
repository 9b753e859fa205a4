import torch
from torch import nn

# PCGrad: task gradients collected by backward + zero, written into .grad
net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), 0.1)
for i in range(8):
    x = torch.randn(8, 4)
    out = net(x)
    l = [(out[:, 0] - 1).pow(2).mean(), (out[:, 1] + out[:, 0]).pow(2).mean()]
    gs = []
    for k in range(2):
        opt.zero_grad()
        l[k].backward(retain_graph=k == 0)
        gs.append(torch.cat([p.grad.flatten().clone() for p in net.parameters()]))
    if gs[0] @ gs[1] < 0:
        gs[0] = gs[0] - (gs[0] @ gs[1]) / (gs[1] @ gs[1]) * gs[1]
    g = gs[0] + gs[1]
    n = 0
    for p in net.parameters():
        p.grad = g[n : n + p.numel()].view_as(p).clone()
        n += p.numel()
    opt.step()
