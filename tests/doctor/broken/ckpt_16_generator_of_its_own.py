# code: checkpoint_side_effects
import numpy as np
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Jitter(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self.rng = np.random.default_rng(0)

    def forward(self, x):
        eps = float(self.rng.normal())  # ALSO
        return torch.sigmoid(self.lin(x) + eps)


m = Jitter()
for _ in range(2):
    y = checkpoint(m, torch.randn(2, 3), use_reentrant=False)  # LINE
    y.sum().backward()
