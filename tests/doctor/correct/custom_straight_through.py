import torch
from torch.autograd import Function


class Sign(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x.abs() <= 1)


class Round(Function):
    @staticmethod
    def forward(ctx, x, step):
        return torch.round(x / step) * step

    @staticmethod
    def backward(ctx, grad):
        return grad, None


class Clamp(Function):
    @staticmethod
    def forward(ctx, x):
        return x.clamp(-1, 1)

    @staticmethod
    def backward(ctx, grad):
        return grad


w = torch.randn(20, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    loss = Sign.apply(w).sum() + Round.apply(w, 0.25).pow(2).sum() + Clamp.apply(2 * w).pow(2).sum()
    loss.backward()
    optimizer.step()
