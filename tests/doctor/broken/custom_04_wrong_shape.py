# code: custom_function_wrong_gradient
import torch
from torch.autograd import Function


class MyLinear(Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight.t()

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        grad_x = grad @ weight
        grad_w = x.t() @ grad
        return grad_x, grad_w  # LINE


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(2, 5))

    def forward(self, x):
        return MyLinear.apply(x, self.weight)


Layer()(torch.randn(4, 5)).sum().backward()
