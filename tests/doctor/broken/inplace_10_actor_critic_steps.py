# code: inplace_corruption
import torch
from torch import nn

actor, critic = nn.Linear(3, 2), nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))
opt_a = torch.optim.Adam(actor.parameters(), lr=1e-2)
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-2)
for _ in range(3):
    s = torch.randn(6, 3)
    a = torch.tanh(actor(s))
    q = critic(torch.cat([s, a], 1))  # ALSO
    actor_loss = -q.mean()
    critic_loss = (critic(torch.cat([s, a.detach()], 1)) - 1).pow(2).mean()
    opt_c.zero_grad()
    critic_loss.backward()
    opt_c.step()  # LINE
    opt_a.zero_grad()
    actor_loss.backward()
    opt_a.step()
