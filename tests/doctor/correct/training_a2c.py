import torch
from torch import nn

torch.manual_seed(3)


class Envs:
    """Eight walks; each step costs a little, the end of the world pays."""

    def __init__(self):
        self.at = torch.zeros(8)

    def step(self, a):
        self.at = self.at + (a.float() * 2 - 1) * 0.25 + 0.05 * torch.randn(8)
        end = self.at > 1.5
        reward = torch.where(end, 10.0, -0.01)
        self.at = torch.where(end | (self.at < -1.5), torch.zeros(8), self.at)
        return self.at.unsqueeze(1), reward, end.float()


body = nn.Sequential(nn.Linear(1, 32), nn.Tanh())
pi, v = nn.Linear(32, 2), nn.Linear(32, 1)
opt = torch.optim.RMSprop([*body.parameters(), *pi.parameters(), *v.parameters()], lr=7e-4, alpha=0.99, eps=1e-5)
envs = Envs()
s = envs.at.unsqueeze(1)
for update in range(150):
    logps, values, rewards, ends, ents = [], [], [], [], []
    for _ in range(5):
        h = body(s)
        d = torch.distributions.Categorical(logits=pi(h))
        a = d.sample()
        logps.append(d.log_prob(a))
        ents.append(d.entropy())
        values.append(v(h).squeeze(1))
        s, r, e = envs.step(a)
        rewards.append(r)
        ends.append(e)
    with torch.no_grad():
        g = v(body(s)).squeeze(1)
    returns = []
    for r, e in zip(reversed(rewards), reversed(ends)):
        g = r + 0.99 * g * (1 - e)
        returns.insert(0, g)
    adv = torch.stack(returns) - torch.stack(values)
    loss = -(torch.stack(logps) * adv.detach()).mean() + 0.5 * adv.pow(2).mean() - 0.01 * torch.stack(ents).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
