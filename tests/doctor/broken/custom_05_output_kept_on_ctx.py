# code: custom_function_wrong_gradient
import torch
from torch.autograd import Function


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.result = x.exp()  # LINE
        return ctx.result

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.result


w = torch.randn(8, requires_grad=True)
for _ in range(4):
    Exp.apply(w).sum().backward()
    w.grad = None
