# code: custom_function_wrong_gradient
import torch
from torch.autograd import Function


class Affine(Function):
    @staticmethod
    def forward(ctx, x, gain, bias):
        ctx.save_for_backward(x, gain)
        return x * gain + bias

    @staticmethod
    def backward(ctx, grad):
        x, gain = ctx.saved_tensors
        return grad * gain, None, grad.sum(0)  # LINE


gain, bias = torch.nn.Parameter(torch.ones(3)), torch.nn.Parameter(torch.zeros(3))
fc = torch.nn.Linear(2, 3)
x = torch.randn(5, 2)
Affine.apply(fc(x), gain, bias).pow(2).mean().backward()
