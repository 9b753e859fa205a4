import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 2)
o = torch.optim.SGD(net.parameters(), 0.1)
x = torch.randn(6, 4)
y = torch.randint(0, 2, (6,))
for step in range(4):
    acc = [torch.zeros_like(p) for p in net.parameters()]
    for i in range(6):
        net.zero_grad()
        nn.functional.cross_entropy(net(x[i : i + 1]), y[i : i + 1]).backward()
        n = torch.sqrt(sum(p.grad.pow(2).sum() for p in net.parameters()))
        c = (1 / (n + 1e-6)).clamp(max=1)
        for a, p in zip(acc, net.parameters()):
            a += c * p.grad
    for a, p in zip(acc, net.parameters()):
        p.grad = (a + 0.1 * torch.randn_like(a)) / 6
    o.step()
