# code: custom_function_wrong_gradient
import torch
from torch.autograd import Function


class Scale(Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor  # LINE


x = torch.randn(3, requires_grad=True)
Scale.apply(x, 2.5).sum().backward()
