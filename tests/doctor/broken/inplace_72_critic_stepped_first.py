# code: inplace_corruption
import torch
from torch import nn

torch.manual_seed(0)


class SAC:
    def __init__(self):
        self.actor, self.critic = nn.Linear(3, 1), nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    def update(self, s, a, target):
        q = self.critic(torch.cat([s, a], 1))
        critic_loss = (q - target).pow(2).mean()
        actor_loss = -self.critic(torch.cat([s, torch.tanh(self.actor(s))], 1)).mean()  # ALSO
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()  # LINE
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()


agent = SAC()
for _ in range(10):
    agent.update(torch.randn(8, 3), torch.randn(8, 1), torch.randn(8, 1))
