# code: checkpoint_side_effects
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint_sequential

net = nn.Sequential(nn.Linear(3, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(3):
    out = checkpoint_sequential(net, 2, torch.randn(8, 3), use_reentrant=False)  # LINE
    optimizer.zero_grad()
    out.pow(2).mean().backward()
    optimizer.step()
