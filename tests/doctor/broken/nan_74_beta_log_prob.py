# code: nan_origin
import torch
from torch import nn
from torch.distributions import Beta

torch.manual_seed(0)


class BetaPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))

    def forward(self, s):
        alpha, beta = nn.functional.softplus(self.net(s)).unbind(-1)
        return Beta(alpha + 1, beta + 1, validate_args=False)


pi = BetaPolicy()
opt = torch.optim.Adam(pi.parameters(), lr=1e-3)
for step in range(25):
    s = torch.randn(16, 2)
    dist = pi(s)
    action = dist.sample()
    if step == 15:
        action = action.round()
    logp = dist.log_prob(action)  # LINE
    loss = -(logp * s[:, 0]).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
