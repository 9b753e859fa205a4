import torch
from torch import nn

torch.manual_seed(0)


class Sgd(torch.optim.Optimizer):
    def __init__(s, p, lr):
        super().__init__(p, {"lr": lr})

    @torch.no_grad()
    def step(s, closure=None):
        for g in s.param_groups:
            for p in g["params"]:
                if p.grad is not None:
                    p.add_(p.grad.clamp(-1, 1), alpha=-g["lr"])


class Lookahead:
    def __init__(s, base, k=2):
        s.base = base
        s.k = k
        s.n = 0
        s.slow = [p.detach().clone() for g in base.param_groups for p in g["params"]]

    def zero_grad(s):
        s.base.zero_grad()

    def step(s):
        s.base.step()
        s.n += 1
        if s.n % s.k == 0:
            with torch.no_grad():
                for q, p in zip(s.slow, [p for g in s.base.param_groups for p in g["params"]]):
                    q.lerp_(p, 0.5)
                    p.copy_(q)


net = nn.Linear(3, 1)
o = Lookahead(Sgd(net.parameters(), 0.1))
for i in range(10):
    x = torch.randn(8, 3) * (1 if i != 7 else 1e4)
    o.zero_grad()
    net(x).pow(2).mean().backward()
    o.step()
