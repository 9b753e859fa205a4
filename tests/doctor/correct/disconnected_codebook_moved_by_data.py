import torch
import torch.nn.functional as F
from torch import nn


class Codebook(nn.Module):
    def __init__(self, n=6, d=4):
        super().__init__()
        self.codes = nn.Parameter(torch.randn(n, d))

    def forward(self, z):
        idx = torch.cdist(z.detach(), self.codes.data).argmin(1)
        if self.training:
            for c in idx.unique():
                self.codes.data[c] = 0.9 * self.codes.data[c] + 0.1 * z.data[idx == c].mean(0)
        q = self.codes[idx].detach()
        return z + (q - z).detach(), F.mse_loss(z, q)


enc, vq, dec = nn.Linear(6, 4), Codebook(), nn.Linear(4, 6)
model = nn.ModuleList([enc, vq, dec])
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for _ in range(20):
    x = torch.randn(16, 6)
    q, l = vq(enc(x))
    loss = F.mse_loss(dec(q), x) + 0.25 * l
    opt.zero_grad()
    loss.backward()
    opt.step()
