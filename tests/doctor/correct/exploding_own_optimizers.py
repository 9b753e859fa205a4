import torch
from torch import nn


class Clipped(torch.optim.Optimizer):
    def __init__(self, params, lr, limit=1.0):
        super().__init__(params, {"lr": lr, "limit": limit})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            grads = [p.grad for p in group["params"] if p.grad is not None]
            norm = torch.stack([g.norm() for g in grads]).norm()
            scale = min(1.0, group["limit"] / (norm.item() + 1e-6))
            for p in group["params"]:
                p.add_(p.grad, alpha=-group["lr"] * scale)


class Signs(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                m.lerp_(p.grad, 0.1)
                p.sub_(group["lr"] * m.sign())


torch.manual_seed(0)
for kind in (Clipped, Signs):
    net = nn.Linear(4, 1)
    opt = kind(net.parameters(), lr=1e-3)
    for step in range(20):
        x = torch.randn(16, 4)
        y = x.sum(1, keepdim=True) * (1e6 if step == 14 else 1)
        loss = (net(x) - y).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
