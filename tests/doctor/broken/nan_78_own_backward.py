# code: nan_origin
import torch
from torch import nn


class SafeNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        n = x.norm(dim=1, keepdim=True)
        ctx.save_for_backward(x, n)
        return n

    @staticmethod
    def backward(ctx, g):
        x, n = ctx.saved_tensors
        return g * x / n


torch.manual_seed(0)
lin = nn.Linear(4, 3, bias=False)
opt = torch.optim.SGD(lin.parameters(), lr=0.1)
for step in range(40):
    x = torch.randn(8, 4)
    if step == 32:
        x[2] = 0
    r = SafeNorm.apply(lin(x))  # LINE
    loss = (r - 1).pow(2).mean() + (lin.weight.pow(2).sum() + 1).sqrt()
    opt.zero_grad()
    loss.backward()
    opt.step()
