import torch
from torch import nn

trunk, one, two = nn.Linear(3, 5), nn.Linear(5, 1), nn.Linear(5, 1)
weights = torch.ones(2, requires_grad=True)
params = [*trunk.parameters(), *one.parameters(), *two.parameters()]
optimizer, balance = torch.optim.SGD(params, lr=0.01), torch.optim.SGD([weights], lr=0.01)
for _ in range(5):
    h = trunk(torch.randn(4, 3)).tanh()
    losses = torch.stack([one(h).pow(2).mean(), (two(h) - 1).pow(2).mean()])
    optimizer.zero_grad()
    balance.zero_grad()
    (weights * losses).sum().backward(retain_graph=True)
    norms = torch.stack(
        [torch.autograd.grad(weights[i] * losses[i], trunk.weight, retain_graph=True, create_graph=True)[0].norm() for i in range(2)]
    )
    weights.grad = torch.autograd.grad((norms - norms.mean().detach()).abs().sum(), weights)[0]
    optimizer.step()
    balance.step()
