import torch
from torch import nn


class Kron(torch.optim.Optimizer):
    def __init__(self, params, lr=0.05, eps=1e-3):
        super().__init__(params, {"lr": lr, "eps": eps})

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                g, state = p.grad, self.state[p]
                if g.ndim < 2:
                    p.add_(g, alpha=-0.1 * group["lr"])
                    continue
                if not state:
                    state["l"], state["r"] = group["eps"] * torch.eye(g.shape[0]), group["eps"] * torch.eye(g.shape[1])
                state["l"].add_(g @ g.T)
                state["r"].add_(g.T @ g)

                def root(m):
                    values, vectors = torch.linalg.eigh(m)
                    return vectors @ torch.diag(values.clamp(min=1e-8).pow(-0.25)) @ vectors.T

                p.add_(root(state["l"]) @ g @ root(state["r"]), alpha=-group["lr"])
        return loss


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
opt = Kron(net.parameters())
for _ in range(15):
    x = torch.randn(32, 4)

    def closure():
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), (x[:, 0] * x[:, 1] > 0).long())
        loss.backward()
        return loss

    opt.step(closure)
