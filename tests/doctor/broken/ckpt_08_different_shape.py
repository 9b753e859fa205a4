# code: checkpoint_side_effects
import random

import torch
from torch.utils.checkpoint import checkpoint

random.seed(2)
w = torch.randn(6, 6, requires_grad=True)


def crop(x):
    n = random.randrange(1, 1000)  # ALSO
    y = torch.cat([x] * n)
    return torch.exp(y @ w * 0.01).mean()


loss = checkpoint(crop, torch.randn(2, 6), use_reentrant=False)  # LINE
loss.backward()
