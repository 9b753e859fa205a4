import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for update in range(4):
    optimizer.zero_grad()
    for i in range(4):
        states = torch.randn(10, 3)
        dist = torch.distributions.Categorical(logits=policy(states))
        actions = dist.sample()
        returns = torch.randn(10)
        loss = -(dist.log_prob(actions) * returns).mean()
        loss.backward()
    optimizer.step()
