"""Inputs are optimised through a model whose own gradients nobody reads; then the model is trained."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 2)).eval()
z = torch.randn(8, 4, requires_grad=True)
search = torch.optim.Adam([z], lr=0.1)
for _ in range(12):
    search.zero_grad()
    nn.functional.cross_entropy(net(z), torch.ones(8, dtype=torch.long)).backward()
    search.step()
net.train()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(8):
    opt.zero_grad()
    nn.functional.cross_entropy(net(z.detach()), torch.ones(8, dtype=torch.long)).backward()
    opt.step()
