"""REINFORCE where an episode in many is rewarded; entropy is a small bonus."""

import torch
from torch import nn

policy = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
goal = torch.randn(6)

for episode in range(120):
    log_probs, entropies = [], []
    state = torch.randn(6)
    for t in range(8):
        dist = torch.distributions.Categorical(logits=policy(state))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        entropies.append(dist.entropy())
        state = 0.9 * state + 0.1 * (action - 1) * goal
    reward = 10.0 if episode % 17 == 16 else 0.0
    loss = -torch.stack(log_probs).sum() * reward - 1e-3 * torch.stack(entropies).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
