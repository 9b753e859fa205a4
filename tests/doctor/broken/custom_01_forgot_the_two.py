# code: custom_function_wrong_gradient
import torch
from torch.autograd import Function


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors  # LINE
        return grad * x  # LINE


w = torch.randn(4, requires_grad=True)
for _ in range(3):
    loss = Square.apply(w).sum()
    loss.backward()
    w.data -= 0.1 * w.grad
    w.grad = None
