import torch
from torch.autograd import Function


class Relu(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.shape = x.shape
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        grad = grad.clone()
        grad[x < 0] = 0
        return grad


class Softplus(Function):
    @staticmethod
    def forward(ctx, x, beta=2.0):
        ctx.beta = beta
        y = torch.log1p(torch.exp(beta * x)) / beta
        ctx.save_for_backward(x)
        return y

    @staticmethod
    def backward(ctx, grad):
        return grad * torch.sigmoid(ctx.beta * ctx.saved_tensors[0]), None


class LinearFunction(Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        return x @ weight.t() + bias

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        return grad @ weight, grad.t() @ x, grad.sum(0)


class SortWithIndices(Function):
    @staticmethod
    def forward(ctx, x):
        values, index = x.sort()
        ctx.mark_non_differentiable(index)
        ctx.save_for_backward(index)
        return values, index

    @staticmethod
    def backward(ctx, grad, _):
        return torch.zeros_like(grad).scatter(-1, ctx.saved_tensors[0], grad)


w, b = torch.nn.Parameter(torch.randn(3, 4)), torch.nn.Parameter(torch.zeros(3))
optimizer = torch.optim.Adam([w, b])
for _ in range(4):
    x = torch.relu(torch.randn(6, 4))
    h = Softplus.apply(Relu.apply(LinearFunction.apply(x, w, b)))
    values, _ = SortWithIndices.apply(h)
    optimizer.zero_grad()
    (values * torch.arange(3.0)).mean().backward()
    optimizer.step()
