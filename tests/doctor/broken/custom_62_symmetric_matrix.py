# code: custom_function_wrong_gradient
import torch
from torch.autograd import Function

torch.manual_seed(0)


class Quadratic(Function):
    @staticmethod
    def forward(ctx, x, c):
        ctx.save_for_backward(x, c)
        return (x * (c @ x)).sum(0)

    @staticmethod
    def backward(ctx, grad):
        x, c = ctx.saved_tensors  # LINE
        return (c @ x) * grad, (x * grad) @ x.mT  # LINE


c = torch.randn(5, 5)
c = c @ c.mT
x = torch.randn(5, 3, requires_grad=True)
for _ in range(3):
    loss = Quadratic.apply(x, c.clone().requires_grad_()).sum()
    loss.backward()
    x.data -= 0.01 * x.grad
    x.grad = None
