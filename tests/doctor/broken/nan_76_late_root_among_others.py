# code: nan_origin
import torch
from torch import nn

torch.manual_seed(0)


def triplet(a, p, n, margin=0.5):
    dp = (a - p).pow(2).sum(1).sqrt()  # LINE
    dn = (a - n).pow(2).sum(1).add(1e-8).sqrt()
    return (dp - dn + margin).clamp(min=0).mean()


emb = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 4))
opt = torch.optim.SGD(emb.parameters(), lr=0.05)
for step in range(40):
    a, n = torch.randn(16, 5), torch.randn(16, 5)
    p = a + 0.1 * torch.randn(16, 5)
    if step == 33:
        p[3] = a[3]
    z = [nn.functional.normalize(emb(t), dim=1) for t in (a, p, n)]
    loss = triplet(*z)
    opt.zero_grad()
    loss.backward()
    opt.step()
