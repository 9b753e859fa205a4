# code: custom_function_wrong_gradient
import torch
from torch import nn


class RMSNormFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, eps):
        inv = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
        ctx.save_for_backward(x, weight, inv)
        return x * inv * weight

    @staticmethod
    def backward(ctx, dy):  # LINE
        x, weight, inv = ctx.saved_tensors  # LINE
        dx = dy * weight * inv  # LINE
        dw = (dy * x * inv).sum(dim=tuple(range(dy.dim() - 1)))  # LINE
        return dx, dw, None  # LINE


class RMSNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return RMSNormFn.apply(x, self.weight, 1e-6)


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), RMSNorm(8), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(15):
    x = torch.randn(8, 4)
    opt.zero_grad()
    (net(x) - x[:, :1]).pow(2).mean().backward()
    opt.step()
