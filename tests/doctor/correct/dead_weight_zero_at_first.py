import torch
from torch import nn


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.dec = nn.Linear(6, 4), nn.Linear(2, 6)
        self.prior_mean = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        mu, log_var = self.enc(x).chunk(2, 1)
        z = mu + torch.randn_like(mu) * (0.5 * log_var).exp()
        kl = 0.5 * ((mu - self.prior_mean).pow(2) + log_var.exp() - 1 - log_var).sum(1)
        return self.dec(z), kl.mean()


torch.manual_seed(0)
net = VAE()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(30):
    x = torch.randn(16, 6)
    out, kl = net(x)
    beta = max(0.0, (step - 12) / 10)
    opt.zero_grad()
    ((out - x).pow(2).sum(1).mean() + beta * kl).backward()
    opt.step()
