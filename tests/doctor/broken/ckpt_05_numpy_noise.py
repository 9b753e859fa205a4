# code: checkpoint_side_effects
import numpy as np
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

encoder = nn.Sequential(nn.Linear(3, 6), nn.Tanh())
head = nn.Linear(6, 1)


def run(x):
    noise = torch.from_numpy(np.random.randn(*x.shape).astype(np.float32))  # ALSO
    return encoder(x + 0.1 * noise)


params = list(encoder.parameters()) + list(head.parameters())
for step in range(3):
    for p in params:
        p.grad = None
    h = checkpoint(run, torch.randn(4, 3), use_reentrant=False)  # LINE
    head(h).pow(2).mean().backward()
    with torch.no_grad():
        for p in params:
            p -= 0.01 * p.grad
