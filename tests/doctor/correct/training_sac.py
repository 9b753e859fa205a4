import copy

import torch
from torch import nn


class SAC:
    def __init__(self):
        self.pi = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 2))
        self.q = nn.ModuleList(nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1)) for _ in range(2))
        self.target = copy.deepcopy(self.q).requires_grad_(False)
        self.log_alpha = torch.zeros((), requires_grad=True)
        self.opt_pi = torch.optim.Adam(self.pi.parameters(), lr=1e-3)
        self.opt_q = torch.optim.Adam(self.q.parameters(), lr=1e-3)
        self.opt_a = torch.optim.Adam([self.log_alpha], lr=1e-3)

    def act(self, s):
        mu, log_std = self.pi(s).chunk(2, -1)
        std = log_std.clamp(-5, 2).exp()
        u = mu + std * torch.randn_like(mu)
        logp = (-0.5 * ((u - mu) / std).pow(2) - log_std.clamp(-5, 2)).sum(-1) - torch.log(1 - torch.tanh(u).pow(2) + 1e-6).sum(-1)
        return torch.tanh(u), logp

    def update(self, s, a, r, s2):
        with torch.no_grad():
            a2, logp2 = self.act(s2)
            q2 = torch.min(*[q(torch.cat([s2, a2], -1)).squeeze(-1) for q in self.target])
            y = r + 0.99 * (q2 - self.log_alpha.exp() * logp2)
        loss_q = sum(nn.functional.mse_loss(q(torch.cat([s, a], -1)).squeeze(-1), y) for q in self.q)
        self.opt_q.zero_grad()
        loss_q.backward()
        self.opt_q.step()
        a_new, logp = self.act(s)
        q = torch.min(*[q(torch.cat([s, a_new], -1)).squeeze(-1) for q in self.q])
        self.opt_pi.zero_grad()
        (self.log_alpha.exp().detach() * logp - q).mean().backward()  # leaves gradients in q, zeroed before its next backward
        self.opt_pi.step()
        self.opt_a.zero_grad()
        (-self.log_alpha * (logp + 1).detach()).mean().backward()
        self.opt_a.step()
        with torch.no_grad():
            for p, t in zip(self.q.parameters(), self.target.parameters()):
                t.lerp_(p, 0.005)


torch.manual_seed(0)
agent = SAC()
for _ in range(10):
    agent.update(torch.randn(16, 3), torch.rand(16, 1) * 2 - 1, torch.rand(16), torch.randn(16, 3))
