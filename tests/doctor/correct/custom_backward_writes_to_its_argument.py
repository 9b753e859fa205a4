import torch
from torch.autograd import Function


class Double(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad.mul_(2)  # nobody else has it


x = torch.randn(5, requires_grad=True)
for _ in range(3):
    x.grad = None
    Double.apply(x).backward(torch.ones(5))
    print(x.grad)
