import torch
from torch import nn


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.mu, self.lv, self.dec = nn.Linear(6, 5), nn.Linear(5, 2), nn.Linear(5, 2), nn.Linear(2, 6)

    def forward(self, x):
        h = self.enc(x).relu()
        return self.dec(self.mu(h)), self.mu(h), self.lv(h)


class Trainer:
    def __init__(self):
        self.vae = VAE()
        self.opt = torch.optim.Adam(self.vae.parameters(), lr=1e-2)
        self.epoch = 0

    def loss(self, x):
        rec, mu, lv = self.vae(x)
        kl = -0.5 * (1 + lv - mu**2 - lv.exp()).mean()
        return (rec - x).pow(2).mean() + (kl if self.epoch > 5 else 0.0)

    def run(self, n):
        for self.epoch in range(n):
            x = torch.randn(10, 6)
            loss = self.loss(x)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()


Trainer().run(12)
