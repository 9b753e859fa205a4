# code: checkpoint_side_effects
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

block = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 4))  # ALSO
head = nn.Linear(4, 1)
opt = torch.optim.SGD([*block.parameters(), *head.parameters()], 0.1)
for i in range(3):
    x = torch.randn(6, 4)
    h = checkpoint(block, x, use_reentrant=False)  # LINE
    loss = head(h).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
