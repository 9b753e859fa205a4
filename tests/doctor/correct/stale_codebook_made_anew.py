import torch
import torch.nn.functional as F
from torch import nn


class VQEMA(nn.Module):
    def __init__(self, n=6, d=4, decay=0.9):
        super().__init__()
        self.embedding = nn.Embedding(n, d)
        self.register_buffer("size", torch.ones(n))
        self.ema_w = nn.Parameter(torch.randn(n, d))
        self.decay, self.n = decay, n

    def forward(self, z):
        idx = torch.cdist(z, self.embedding.weight).argmin(1)
        onehot = F.one_hot(idx, self.n).float()
        q = onehot @ self.embedding.weight
        if self.training:
            self.size = self.size * self.decay + (1 - self.decay) * onehot.sum(0)
            self.ema_w = nn.Parameter(self.ema_w * self.decay + (1 - self.decay) * (onehot.t() @ z))
            self.embedding.weight = nn.Parameter(self.ema_w / (self.size + 1e-5).unsqueeze(1))
        loss = 0.25 * F.mse_loss(q.detach(), z)
        return z + (q - z).detach(), loss


enc, vq, dec = nn.Linear(6, 4), VQEMA(), nn.Linear(4, 6)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters(), *vq.parameters()], lr=1e-3)
for _ in range(20):
    x = torch.randn(16, 6)
    q, l = vq(enc(x))
    loss = F.mse_loss(dec(q), x) + l
    opt.zero_grad()
    loss.backward()
    opt.step()
