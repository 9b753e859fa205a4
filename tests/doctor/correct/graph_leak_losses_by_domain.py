import torch
from torch import nn

net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
domains = {"a": 0.0, "b": 1.0, "c": -1.0, "d": 2.0}
for epoch in range(4):
    losses = {}
    for name, shift in domains.items():
        x = torch.randn(8, 4) + shift
        loss = nn.functional.cross_entropy(net(x), torch.randint(0, 2, (8,)))
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses[name] = loss
    print({k: v.item() for k, v in losses.items()})
