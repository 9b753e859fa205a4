import torch
from torch import nn

nets = [nn.Linear(3, 1) for _ in range(6)]
opts = [torch.optim.SGD(n.parameters(), lr=0.1) for n in nets]
for epoch in range(4):
    x = torch.randn(7, 3)
    losses = []
    for net, opt in zip(nets, opts):
        loss = net(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss)
    print(torch.stack(losses).mean().item())
