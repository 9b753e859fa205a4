import torch
from torch import nn
from torch.func import functional_call

net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
rates = nn.ParameterList([nn.Parameter(torch.tensor(0.01)) for _ in net.parameters()])
outer = torch.optim.Adam([*net.parameters(), *rates.parameters()], lr=1e-3)
for iteration in range(5):
    meta = 0.0
    for task in range(3):
        shift = torch.rand(1) * 3
        fast = dict(net.named_parameters())
        for _ in range(2):
            x = torch.rand(6, 1)
            loss = (functional_call(net, fast, (x,)) - (x + shift).sin()).square().mean()
            grads = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
            fast = {n: p - r * g for (n, p), r, g in zip(fast.items(), rates, grads)}
        x = torch.rand(6, 1)
        meta = meta + (functional_call(net, fast, (x,)) - (x + shift).sin()).square().mean()
    outer.zero_grad()
    (meta / 3).backward()
    outer.step()
