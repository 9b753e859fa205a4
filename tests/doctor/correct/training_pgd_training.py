import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
o = torch.optim.SGD(net.parameters(), 0.1)
for i in range(6):
    x = torch.randn(8, 4)
    y = torch.randint(0, 2, (8,))
    d = torch.zeros_like(x, requires_grad=True)
    for _ in range(3):
        l = nn.functional.cross_entropy(net(x + d), y)
        l.backward()
        d.data = (d + 0.1 * d.grad.sign()).clamp(-0.3, 0.3)
        d.grad.zero_()
    o.zero_grad()
    nn.functional.cross_entropy(net(x + d.detach()), y).backward()
    o.step()
# free adversarial training
delta = torch.zeros(8, 4, requires_grad=True)
for i in range(6):
    x = torch.randn(8, 4)
    y = torch.randint(0, 2, (8,))
    l = nn.functional.cross_entropy(net(x + delta), y)
    o.zero_grad()
    l.backward()
    o.step()
    delta.data = (delta + 0.1 * delta.grad.sign()).clamp(-0.3, 0.3)
    delta.grad.zero_()
