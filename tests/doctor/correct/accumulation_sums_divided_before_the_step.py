"""Losses are sums over tokens; the number of all tokens divides the gradients once, before the step."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Embedding(12, 8), nn.Linear(8, 12))
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
for _ in range(6):
    tokens = 0
    opt.zero_grad()
    for length in (3, 9, 6):
        ids = torch.randint(0, 12, (2, length))
        nn.functional.cross_entropy(net(ids).flatten(0, 1), ids.flatten(), reduction="sum").backward()
        tokens += ids.numel()
    for p in net.parameters():
        p.grad.div_(tokens)
    opt.step()
