import torch
from torch import nn

policy = nn.Linear(3, 4)
optimizer = torch.optim.Adam(policy.parameters())
for _ in range(6):
    logits = policy(torch.randn(5, 3))
    legal = torch.rand(5, 4) > 0.3
    legal[:, 0] = True
    masked = torch.where(legal, logits, torch.full_like(logits, -float("inf")))
    dist = torch.distributions.Categorical(logits=masked)
    action = dist.sample()
    loss = -(dist.log_prob(action)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    best = masked.max(1).values
