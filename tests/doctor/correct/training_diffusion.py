import copy

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Embedding(10, 8)
        self.body = nn.Sequential(nn.Linear(10, 16), nn.SiLU(), nn.Dropout(0.1), nn.Linear(16, 2))

    def forward(self, x, t):
        return self.body(torch.cat([x, self.time(t)], 1))


betas = torch.linspace(1e-3, 0.2, 10)
alphas = torch.cumprod(1 - betas, 0)
net = Net()
ema = copy.deepcopy(net).eval().requires_grad_(False)
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)


@torch.no_grad()
def sample(n):
    x = torch.randn(n, 2)
    for t in reversed(range(10)):
        noise = ema(x, torch.full((n,), t))
        x = (x - betas[t] / (1 - alphas[t]).sqrt() * noise) / (1 - betas[t]).sqrt()
        if t:
            x += betas[t].sqrt() * torch.randn_like(x)
    return x


for step in range(10):
    x0, t = torch.randn(16, 2), torch.randint(0, 10, (16,))
    noise = torch.randn_like(x0)
    a = alphas[t].unsqueeze(1)
    loss = (net(a.sqrt() * x0 + (1 - a).sqrt() * noise, t) - noise).square().mean()
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    for e, p in zip(ema.parameters(), net.parameters()):
        e.data.lerp_(p.data, 0.1)
    if step % 4 == 3:
        print(sample(4).std().item())
