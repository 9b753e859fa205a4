# code: checkpoint_side_effects
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

gen = torch.Generator().manual_seed(0)
fc = nn.Linear(4, 4)


def block(x):
    noise = torch.randn(x.shape, generator=gen)  # ALSO
    return torch.relu(fc(x + noise))


for _ in range(3):
    x = torch.randn(2, 4, requires_grad=True)
    loss = checkpoint(block, x, use_reentrant=True).sum()  # LINE
    fc.zero_grad()
    loss.backward()
