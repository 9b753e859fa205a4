# code: checkpoint_side_effects
import torch
from torch.utils.checkpoint import checkpoint

w = torch.randn(3, 3, requires_grad=True)
activations = []


def block(x):
    h = torch.sigmoid(x @ w)
    activations.append(h.mean().item())  # ALSO
    return h * h


x = torch.randn(4, 3)
for _ in range(3):
    y = checkpoint(block, x, use_reentrant=False)  # LINE
    y.sum().backward()
    w.data -= 0.1 * w.grad
    w.grad = None
