# code: custom_function_wrong_gradient
import torch
from torch.autograd import Function


class MeanSquare(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.pow(2).mean()

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad  # LINE


def train(w, steps=3):
    for _ in range(steps):
        loss = MeanSquare.apply(w)
        loss.backward()
        with torch.no_grad():
            w.add_(w.grad, alpha=-0.1)
            w.grad = None


train(torch.randn(7, requires_grad=True))
