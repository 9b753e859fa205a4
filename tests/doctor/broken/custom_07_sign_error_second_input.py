# code: custom_function_wrong_gradient
import torch
from torch.autograd import Function


class Difference(Function):
    @staticmethod
    def forward(a, b):
        return (a - b) ** 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        g = 2 * (a - b) * grad
        return g, g  # LINE


a = torch.nn.Parameter(torch.randn(6))
b = torch.nn.Parameter(torch.randn(6))
opt = torch.optim.Adam([a, b], lr=0.01)


def closure():
    opt.zero_grad()
    loss = Difference.apply(a, b).mean()
    loss.backward()
    return loss


for _ in range(3):
    opt.step(closure)
