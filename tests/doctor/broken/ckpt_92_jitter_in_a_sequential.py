# code: checkpoint_side_effects
import numpy as np
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint_sequential

rng = np.random.default_rng(0)


class Jitter(nn.Module):
    def forward(self, x):
        return x * torch.from_numpy(rng.normal(1, 0.1, x.shape).astype("float32"))  # ALSO


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), Jitter(), nn.Tanh(), nn.Linear(8, 8), Jitter(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad()
    checkpoint_sequential(net, 2, torch.randn(6, 4), use_reentrant=False).pow(2).mean().backward()  # LINE
    opt.step()
