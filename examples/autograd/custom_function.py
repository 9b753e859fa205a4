"""An op with a derivative of your own, and `gradcheck`, which compares it with finite differences."""

import torch


class Swish(torch.autograd.Function):
    """x * sigmoid(x), which saves its input alone."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x)
        return grad * (s + x * s * (1 - s))


class WrongSwish(Swish):
    """The same with a derivative that forgot the product rule."""

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * torch.sigmoid(x)


x = torch.tensor([-1.0, 0.5, 2.0], dtype=torch.double, requires_grad=True)
y = Swish.apply(x)
print("node:", y.grad_fn.name())
print("gradcheck:", torch.autograd.gradcheck(Swish.apply, (x,)))
print("gradgradcheck:", torch.autograd.gradgradcheck(Swish.apply, (x,)))
print("wrong derivative:", torch.autograd.gradcheck(WrongSwish.apply, (x,), raise_exception=False))


class Round(torch.autograd.Function):
    """Rounds, and passes the gradient straight through: a derivative that is wrong on purpose."""

    @staticmethod
    def forward(ctx, x, step):
        return (x / step).round() * step

    @staticmethod
    def backward(ctx, grad):
        return grad, None  # one gradient for each argument of forward: none for the step


z = torch.tensor([-1.2, 0.6, 2.1], requires_grad=True)
rounded = Round.apply(z, 0.5)
rounded.sum().backward()
print("rounded:", rounded.tolist(), "gradient:", z.grad.tolist())
