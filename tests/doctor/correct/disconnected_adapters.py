import math

import torch
import torch.nn as nn


class LoRA(nn.Module):
    def __init__(self, base, r=2):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.A = nn.Parameter(torch.empty(r, base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))

    def forward(self, x):
        return self.base(x) + x @ self.A.t() @ self.B.t()


net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 2))
net[0], net[2] = LoRA(net[0]), LoRA(net[2])
opt = torch.optim.AdamW((p for p in net.parameters() if p.requires_grad), lr=1e-2)
for _ in range(25):
    x = torch.randn(8, 6)
    loss = nn.functional.cross_entropy(net(x), (x.sum(1) > 0).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
