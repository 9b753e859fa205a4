# code: nan_origin
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Linear(6, 3)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)


def angular(a, b):
    cos = F.cosine_similarity(a, b, dim=-1)
    return torch.acos(cos.clamp(-1, 1)).mean()  # LINE


for step in range(30):
    x = torch.randn(8, 6)
    out = net(x)
    goal = torch.randn(8, 3)
    if step == 25:
        goal = torch.tensor([[3.0, 0.0, 0.0]]).repeat(8, 1)
        out = out * 0 + torch.tensor([2.0, 0.0, 0.0]) * net.weight.abs().sum().clamp(1, 1)
    norm_penalty = (out.norm(dim=-1) - 1).pow(2).mean()
    spread = (out.var(0) + 1).sqrt().mean()
    loss = angular(out, goal) + norm_penalty + spread
    opt.zero_grad()
    loss.backward()
    opt.step()
