# code: custom_function_wrong_gradient
import torch
from torch.autograd import Function


class Product(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.inputs = (a, b)  # LINE
        return a * b

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.inputs
        return grad * b, grad * a


p = torch.nn.Parameter(torch.ones(5))
q = torch.nn.Parameter(torch.ones(5) * 2)
for _ in range(3):
    Product.apply(p, q).sum().backward()
    p.grad = q.grad = None
