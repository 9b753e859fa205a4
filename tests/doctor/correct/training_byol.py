import copy

import torch
import torch.nn.functional as F
from torch import nn

online = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 4))
predictor = nn.Linear(4, 4)
target = copy.deepcopy(online)
opt = torch.optim.SGD([*online.parameters(), *predictor.parameters()], lr=0.05)
for _ in range(8):
    x = torch.randn(12, 6)
    p = predictor(online(x + 0.1 * torch.randn_like(x)))
    with torch.no_grad():
        z = target(x)
        spread = z.std(0).mean().item()
    loss = 2 - 2 * F.cosine_similarity(p, z, dim=-1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for a, b in zip(target.parameters(), online.parameters()):
            a.lerp_(b, 0.01)
