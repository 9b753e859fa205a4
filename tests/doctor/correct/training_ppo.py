import torch
import torch.nn as nn
from torch.distributions import Normal

actor = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
log_std = nn.Parameter(torch.zeros(1))
critic = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam([{"params": [*actor.parameters(), log_std]}, {"params": critic.parameters(), "lr": 1e-2}], lr=3e-3)
for it in range(6):
    obs, acts, logps, vals, rews = [], [], [], [], []
    s = torch.randn(3)
    for t in range(32):
        with torch.no_grad():
            d = Normal(actor(s), log_std.exp())
            a = d.sample()
            logps.append(d.log_prob(a).sum())
            vals.append(critic(s).squeeze())
        obs.append(s)
        acts.append(a)
        rews.append(-(a - s[0]).pow(2).sum())
        s = torch.randn(3)
    obs, acts, old = torch.stack(obs), torch.stack(acts), torch.stack(logps)
    adv = torch.stack(rews) - torch.stack(vals)
    ret = torch.stack(rews)
    for epoch in range(3):
        for idx in torch.randperm(32).split(16):
            d = Normal(actor(obs[idx]), log_std.exp())
            ratio = (d.log_prob(acts[idx]).sum(-1) - old[idx]).exp()
            a_ = (adv[idx] - adv[idx].mean()) / (adv[idx].std() + 1e-8)
            pl = -torch.min(ratio * a_, ratio.clamp(0.8, 1.2) * a_).mean()
            vl = (critic(obs[idx]).squeeze(-1) - ret[idx]).pow(2).mean()
            loss = pl + 0.5 * vl - 0.01 * d.entropy().mean()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(actor.parameters(), 0.5)
            opt.step()
