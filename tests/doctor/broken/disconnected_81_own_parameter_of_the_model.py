# code: disconnected_parameter
import torch
import torch.nn as nn
from torch.distributions import Normal


class ActorCritic(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(obs_dim, 16), nn.Tanh(), nn.Linear(16, act_dim))
        self.critic = nn.Sequential(nn.Linear(obs_dim, 16), nn.Tanh(), nn.Linear(16, 1))
        self.log_std = nn.Parameter(torch.zeros(act_dim))  # LINE

    def evaluate(self, s, a):
        dist = Normal(self.actor(s), self.log_std.exp())
        return dist.log_prob(a).sum(-1), self.critic(s).squeeze(-1), dist.entropy().sum(-1)


ac = ActorCritic(4, 2)
optimizer = torch.optim.Adam([{"params": ac.actor.parameters(), "lr": 3e-4}, {"params": ac.critic.parameters(), "lr": 1e-3}])  # ALSO
for it in range(5):
    s = torch.randn(32, 4)
    with torch.no_grad():
        a = Normal(ac.actor(s), ac.log_std.exp()).sample()
        old, v, _ = ac.evaluate(s, a)
        ret = -a.pow(2).sum(-1)
        adv = ret - v
    for k in range(4):
        logp, value, ent = ac.evaluate(s, a)
        ratio = (logp - old).exp()
        surr = torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv)
        loss = -surr.mean() + 0.5 * (value - ret).pow(2).mean() - 0.01 * ent.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
