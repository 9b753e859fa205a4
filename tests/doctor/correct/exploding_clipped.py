import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
for i in range(20):
    x = torch.randn(16, 4)
    if i in (5, 13):
        x = x * 1e4
    optimizer.zero_grad()
    (net(x) - 1).pow(2).mean().backward()
    if i < 10:
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    else:
        nn.utils.clip_grad_value_(net.parameters(), 0.5)
    optimizer.step()
for i in range(20):
    x = torch.randn(16, 4)
    if i == 9:
        x = x * 1e4
    optimizer.zero_grad()
    loss = (net(x) - 1).pow(2).mean()
    loss.backward()
    norm = torch.linalg.vector_norm(torch.stack([p.grad.norm() for p in net.parameters()]))
    if norm < 1e3:
        optimizer.step()
w = torch.zeros(4, requires_grad=True)
for i in range(12):
    x = torch.randn(16, 4) * (1e4 if i == 8 else 1)
    ((x @ w) - 1).pow(2).mean().backward()
    with torch.no_grad():
        w -= 0.01 * w.grad / w.grad.norm()
        w.grad = None
