# code: exploding_gradient
import torch
from torch import nn


class Plain(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.add_(p.grad, alpha=-group["lr"])


torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = Plain(net.parameters(), lr=1e-3)
for step in range(20):
    x = torch.randn(16, 4)
    y = x.sum(1, keepdim=True)
    if step == 14:
        y = y * 1e6
    loss = (net(x) - y).square().mean()
    opt.zero_grad()
    loss.backward()  # LINE
    opt.step()
