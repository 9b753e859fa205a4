import torch
from torch import nn


class Coupling(nn.Module):
    def __init__(self, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 2))
        nn.init.zeros_(self.net[2].weight)
        nn.init.zeros_(self.net[2].bias)

    def forward(self, x):
        a, b = x.chunk(2, 1)
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, 1)
        s = torch.tanh(s)
        b = b * s.exp() + t
        return torch.cat([b, a] if self.flip else [a, b], 1), s.sum(1)


torch.manual_seed(0)
flow = nn.ModuleList(Coupling(i % 2 == 1) for i in range(4))
opt = torch.optim.Adam(flow.parameters(), lr=1e-3)
base = torch.distributions.Normal(0.0, 1.0)
for step in range(60):
    x = torch.randn(64, 2)
    x[:, 1] += x[:, 0] ** 2
    log_det = 0.0
    for layer in flow:
        x, ld = layer(x)
        log_det = log_det + ld
    nll = -(base.log_prob(x).sum(1) + log_det).mean()
    opt.zero_grad()
    nll.backward()
    opt.step()
