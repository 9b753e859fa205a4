import torch
from torch import nn

torch.manual_seed(0)
pi = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 4))
opt = torch.optim.Adam(pi.parameters(), lr=3e-4)
for update in range(25):
    obs = torch.randn(64, 6)
    with torch.no_grad():
        old = torch.distributions.Categorical(logits=pi(obs))
        act = old.sample()
        old_logp = old.log_prob(act)
    rewards = torch.zeros(64)
    if update % 6 == 5:
        rewards[torch.randint(0, 64, (3,))] = 1.0
    adv = rewards - rewards.mean()
    for epoch in range(3):
        d = torch.distributions.Categorical(logits=pi(obs))
        ratio = (d.log_prob(act) - old_logp).exp()
        loss = -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean() - 1e-6 * d.entropy().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
