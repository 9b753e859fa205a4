import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

frozen = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
frozen.eval()
body = nn.Sequential(nn.Linear(4, 4), nn.GroupNorm(2, 4), nn.GELU(), nn.Dropout(0.1))
opt = torch.optim.AdamW(body.parameters())
for _ in range(4):
    x = torch.randn(6, 4)
    y = checkpoint(body, checkpoint(frozen, x, use_reentrant=False), use_reentrant=False)
    opt.zero_grad()
    y.pow(2).mean().backward()
    opt.step()
