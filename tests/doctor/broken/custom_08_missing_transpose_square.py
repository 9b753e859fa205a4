# code: custom_function_wrong_gradient
import torch
from torch.autograd import Function


class MatMul(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a @ b

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        ga = grad @ b if ctx.needs_input_grad[0] else None
        gb = a.t() @ grad if ctx.needs_input_grad[1] else None
        return ga, gb  # LINE


w1 = torch.randn(4, 4, requires_grad=True)
w2 = torch.randn(4, 4, requires_grad=True)
x = torch.randn(4, 4)
y = MatMul.apply(torch.tanh(MatMul.apply(x, w1)), w2)
y.sum().backward()
