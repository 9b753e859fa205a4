# code: custom_function_wrong_gradient
import torch
from torch.autograd import Function


class Huber(Function):
    @staticmethod
    def forward(ctx, pred, target, delta):
        diff = pred - target
        ctx.save_for_backward(diff)
        ctx.delta = delta
        small = diff.abs() <= delta
        return torch.where(small, 0.5 * diff**2, delta * (diff.abs() - 0.5 * delta)).sum()

    @staticmethod
    def backward(ctx, grad):
        (diff,) = ctx.saved_tensors
        g = diff * grad
        return g, -g, None  # LINE


model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(16, 3), torch.randn(16, 1) * 10
for _ in range(3):
    optimizer.zero_grad()
    Huber.apply(model(x), y, 0.5).backward()
    optimizer.step()
