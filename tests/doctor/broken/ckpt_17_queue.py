# code: checkpoint_side_effects
import torch
from torch.utils.checkpoint import checkpoint

scales = [1.0, 2.0, 3.0, 4.0]
w = torch.randn(3, requires_grad=True)


def block(x):
    s = scales.pop()  # ALSO
    return torch.exp(x * w * s)


y = checkpoint(block, torch.randn(3), use_reentrant=False)  # LINE
y.sum().backward()
