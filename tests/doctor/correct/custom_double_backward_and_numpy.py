import numpy as np
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class NumpySin(Function):
    @staticmethod
    def forward(ctx, x):
        a = x.detach().numpy()
        ctx.a = a.copy()
        return torch.from_numpy(np.sin(a))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        return torch.from_numpy(np.cos(ctx.a)) * grad


class Cube(Function):
    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * grad


x = torch.randn(4, requires_grad=True)
for _ in range(3):
    (NumpySin.apply(x) + 1).sum().backward()
    g = torch.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)[0]
    g.pow(2).sum().backward()
    x.grad = None
