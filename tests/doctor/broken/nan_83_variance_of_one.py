# code: nan_origin
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 4)
opt = torch.optim.SGD(net.parameters(), lr=1e-3)


def f(h, k):
    return h[: 16 if not k else 1].var(0)  # LINE


for step in range(34):
    k = 1.0 if step == 30 else 0.0
    x = torch.randn(16, 3)
    h = net(x)
    base = F.normalize(h, dim=1).pow(2).mean() + (h.var() + 1).sqrt() + (h.abs() + 1).log().mean() / 3
    loss = base + (f(h, k) * 1e-6).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
