# A Function that gives numbers beside its result, and says that they have no derivative.
import torch
from torch import nn


class Normalize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        size = x.norm(dim=1, keepdim=True)
        unit = x / size
        ctx.save_for_backward(unit, size)
        ctx.mark_non_differentiable(size)
        return unit, size

    @staticmethod
    def backward(ctx, grad, _):
        unit, size = ctx.saved_tensors
        return (grad - unit * (grad * unit).sum(1, keepdim=True)) / size


class Magnitude(torch.autograd.Function):
    """For logs alone."""

    @staticmethod
    def forward(ctx, x):
        result = x.abs().mean()
        ctx.mark_non_differentiable(result)
        return result

    @staticmethod
    def backward(ctx, grad):
        raise AssertionError("nobody asks")


torch.manual_seed(0)
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, target = torch.randn(16, 4), nn.functional.normalize(torch.randn(16, 3))
log = []
for _ in range(20):
    hidden = model(x)
    unit, size = Normalize.apply(hidden)
    log.append((size.mean().item(), Magnitude.apply(hidden).item()))
    loss = (unit - target).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
