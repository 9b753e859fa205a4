# code: custom_function_wrong_gradient
import torch
from torch import nn


class SoftShrink(torch.autograd.Function):
    @staticmethod
    def forward(x, lam):
        return torch.sign(x) * torch.log1p((x.abs() / lam) ** 2)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, lam = inputs
        ctx.save_for_backward(x)
        ctx.lam = lam

    @staticmethod
    def backward(ctx, grad_output):  # LINE
        (x,) = ctx.saved_tensors  # LINE
        lam = ctx.lam  # LINE
        return grad_output * 2 * x.abs() / (1 + (x / lam) ** 2), None  # LINE


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(20):
    x = torch.randn(16, 4)
    out = SoftShrink.apply(net(x), 0.3)
    loss = (out - x[:, :1]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
