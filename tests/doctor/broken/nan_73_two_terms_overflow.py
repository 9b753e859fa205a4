# code: nan_origin
import torch
from torch import nn

torch.manual_seed(0)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(8, 6)
        self.dec = nn.Linear(3, 8)

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=-1)
        std = (0.5 * logvar).exp()
        z = mu + std * torch.randn_like(std)
        kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(-1).mean()  # LINE
        return self.dec(z), kl


vae = VAE()
opt = torch.optim.SGD(vae.parameters(), lr=1e-3)
for step in range(15):
    x = torch.rand(16, 8) * (1 if step < 6 else 800)
    out, kl = vae(x)
    loss = (out - x).pow(2).mean() * 1e-3 + 1e-3 * kl
    opt.zero_grad()
    loss.backward()
    opt.step()
