import torch
from torch import nn

# SAC with learned temperature
pi, q = nn.Linear(3, 2), nn.Linear(4, 1)
log_alpha = torch.zeros(1, requires_grad=True)
po, qo, alo = torch.optim.Adam(pi.parameters()), torch.optim.Adam(q.parameters()), torch.optim.Adam([log_alpha], 1e-2)
for t in range(10):
    s, r = torch.randn(6, 3), torch.randn(6, 1)
    mu, ls = pi(s).chunk(2, 1)
    dist = torch.distributions.Normal(mu, ls.clamp(-5, 2).exp())
    a = dist.rsample()
    lp = dist.log_prob(a)
    qo.zero_grad()
    (q(torch.cat([s, a.detach()], 1)) - r).pow(2).mean().backward()
    qo.step()
    po.zero_grad()
    (log_alpha.exp().detach() * lp - q(torch.cat([s, a], 1))).mean().backward()
    po.step()
    alo.zero_grad()
    (-(log_alpha * (lp + 1.0).detach()).mean()).backward()
    alo.step()
