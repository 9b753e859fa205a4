import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.3), nn.ReLU(), nn.Linear(8, 8), nn.Dropout(0.3), nn.LayerNorm(8))
head = nn.Linear(8, 1)
optimizer = torch.optim.Adam([*net.parameters(), *head.parameters()])
for step in range(5):
    x = torch.randn(3, 4)
    h = checkpoint(net, x, use_reentrant=False)
    if step % 2:
        h = checkpoint_sequential(net, 2, x.requires_grad_(), use_reentrant=bool(step % 3))
    optimizer.zero_grad()
    head(h + torch.rand_like(h)).mean().backward()
    optimizer.step()
