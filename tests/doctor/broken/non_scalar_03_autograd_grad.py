# code: non_scalar_backward
import torch


def jacobian_row(f, x):
    y = f(x)
    return torch.autograd.grad(y, x)[0]  # LINE


x = torch.randn(5, requires_grad=True)
g = jacobian_row(lambda t: torch.sin(t) * t, x)  # ALSO
