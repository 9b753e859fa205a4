# code: graph_leak
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class MoCo(nn.Module):
    def __init__(self, dim=16, K=128, m=0.99, T=0.2):
        super().__init__()
        self.encoder_q = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, dim))
        self.encoder_k = copy.deepcopy(self.encoder_q)
        self.K, self.m, self.T = K, m, T
        self.queue = F.normalize(torch.randn(K, dim), dim=1)

    @torch.no_grad()
    def momentum_update(self):
        for pq, pk in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            pk.mul_(self.m).add_(pq, alpha=1 - self.m)

    def forward(self, xq, xk):
        q = F.normalize(self.encoder_q(xq), dim=1)
        self.momentum_update()
        k = F.normalize(self.encoder_k(xk), dim=1)
        pos = (q * k.detach()).sum(1, keepdim=True)
        neg = q @ self.queue.detach().t()
        logits = torch.cat([pos, neg], dim=1) / self.T
        self.queue = torch.cat([k, self.queue])[: self.K]  # LINE, ALSO
        return F.cross_entropy(logits, torch.zeros(len(xq), dtype=torch.long))


model = MoCo()
opt = torch.optim.SGD(model.encoder_q.parameters(), lr=0.05)
for step in range(50):
    x = torch.randn(16, 12)
    loss = model(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
    opt.zero_grad()
    loss.backward()
    opt.step()
