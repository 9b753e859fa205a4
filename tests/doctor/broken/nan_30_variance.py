# code: nan_origin
import torch
from torch import nn


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(4, 4)
        self.dec = nn.Linear(2, 4)

    def forward(self, x):
        mu, var = self.enc(x).chunk(2, -1)
        std = var.sqrt()  # LINE
        z = mu + std * torch.randn_like(std)
        return self.dec(z), mu, var


torch.manual_seed(0)
vae = VAE()
opt = torch.optim.Adam(vae.parameters())
for _ in range(3):
    x = torch.randn(8, 4)
    rec, mu, var = vae(x)
    kl = -0.5 * (1 + torch.log(var.abs()) - mu**2 - var).sum(-1).mean()
    loss = (rec - x).pow(2).mean() + kl
    opt.zero_grad()
    loss.backward()
    opt.step()
