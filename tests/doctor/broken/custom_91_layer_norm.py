# code: custom_function_wrong_gradient
import torch


class Norm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        mean = x.mean(-1, keepdim=True)
        inv = (x.var(-1, unbiased=False, keepdim=True) + 1e-5).rsqrt()
        y = (x - mean) * inv
        ctx.save_for_backward(y, inv)
        return y

    @staticmethod
    def backward(ctx, g):  # LINE
        y, inv = ctx.saved_tensors  # LINE
        return inv * (g - g.mean(-1, keepdim=True))  # LINE


torch.manual_seed(0)
w = torch.randn(6, 6, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(3):
    opt.zero_grad()
    (Norm.apply(torch.randn(4, 6) @ w) - 1).abs().mean().backward()
    opt.step()
