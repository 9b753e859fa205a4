import torch
from torch import nn

torch.manual_seed(0)
models = [nn.Linear(3, 1) for _ in range(3)]
o = torch.optim.Adam([p for m in models for p in m.parameters()], 1e-2)
x = torch.randn(20, 3)
y = x.sum(1, keepdim=True)
for i in range(5):
    o.zero_grad()
    for m in models:
        nn.functional.mse_loss(m(x), y).backward()
    o.step()
# ensemble w/ one optimizer each, bootstrapped
opts = [torch.optim.SGD(m.parameters(), 0.1) for m in models]
for i in range(5):
    for m, o in zip(models, opts):
        idx = torch.randint(0, 20, (10,))
        o.zero_grad()
        nn.functional.mse_loss(m(x[idx]), y[idx]).backward()
        o.step()
