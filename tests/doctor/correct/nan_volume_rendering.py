import torch
from torch import nn

torch.manual_seed(0)


def encode(x, n=6):
    f = 2.0 ** torch.arange(n) * torch.pi
    a = x[..., None] * f
    return torch.cat([a.sin(), a.cos()], -1).flatten(-2)


net = nn.Sequential(nn.Linear(36, 32), nn.ReLU(), nn.Linear(32, 4))
opt = torch.optim.Adam(net.parameters(), lr=5e-4)
for step in range(60):
    o, d = torch.rand(16, 1, 3), nn.functional.normalize(torch.randn(16, 1, 3), dim=-1)
    t = torch.linspace(0, 1, 24)[None, :, None]
    t = t + torch.rand(16, 24, 1) / 24
    raw = net(encode(o + d * t))
    sigma, rgb = torch.relu(raw[..., 3]), raw[..., :3].sigmoid()
    delta = torch.cat([t[:, 1:, 0] - t[:, :-1, 0], torch.full((16, 1), 1e10)], 1)
    alpha = 1 - torch.exp(-sigma * delta)
    T = torch.cumprod(torch.cat([torch.ones(16, 1), 1 - alpha + 1e-10], 1), 1)[:, :-1]
    colour = ((T * alpha)[..., None] * rgb).sum(1)
    opt.zero_grad()
    (colour - o[:, 0]).pow(2).mean().backward()
    opt.step()
