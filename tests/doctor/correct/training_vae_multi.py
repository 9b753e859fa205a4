import torch
from torch import nn

torch.manual_seed(0)


class VAE(nn.Module):
    def __init__(s):
        super().__init__()
        s.e = nn.Linear(8, 16)
        s.mu = nn.Linear(16, 2)
        s.lv = nn.Linear(16, 2)
        s.d = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 8))

    def forward(s, x):
        h = s.e(x).relu()
        m, l = s.mu(h), s.lv(h)
        z = m + torch.randn_like(m) * (l / 2).exp()
        return s.d(z), m, l


v = VAE()
o = torch.optim.Adam(v.parameters(), 1e-3)
sch = torch.optim.lr_scheduler.CosineAnnealingLR(o, 20)
for i in range(30):
    x = torch.rand(16, 8)
    r, m, l = v(x)
    beta = min(1.0, i / 10)
    loss = nn.functional.mse_loss(r, x, reduction="sum") + beta * -0.5 * (1 + l - m**2 - l.exp()).sum()
    o.zero_grad(set_to_none=True)
    loss.backward()
    o.step()
    sch.step()
