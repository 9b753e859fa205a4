import torch
from torch import nn
from torch.distributions import Categorical

policy = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
critic = nn.Linear(3, 1)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-2)
for episode in range(5):
    log_probs, rewards = [], []
    state = torch.randn(3)
    for t in range(12):
        dist = Categorical(logits=policy(state))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        reward = float(action) - 0.5
        rewards.append(reward)
        critic_loss = (critic(state) - reward).pow(2).mean()  # trained in every step, while the policy waits for the end of the episode
        critic_optimizer.zero_grad()
        critic_loss.backward()
        critic_optimizer.step()
        state = torch.randn(3)
    returns = torch.tensor(rewards).flip(0).cumsum(0).flip(0)
    loss = -(torch.stack(log_probs) * returns).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
