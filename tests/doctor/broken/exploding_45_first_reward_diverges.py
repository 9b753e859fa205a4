# code: exploding_gradient
"""Rare rewards, and a learning rate at which the first of them destroys the critic."""

import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
nn.init.zeros_(critic[2].bias)
optimizer = torch.optim.SGD(critic.parameters(), lr=0.5)
for t in range(40):
    s = torch.randn(8, 4)
    r = torch.full((8, 1), 1000.0) if t == 20 else torch.zeros(8, 1)
    loss = (critic(s) - r).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()  # LINE
    optimizer.step()
