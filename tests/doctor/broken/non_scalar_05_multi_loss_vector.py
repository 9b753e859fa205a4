# code: non_scalar_backward
import torch
from torch import nn

shared = nn.Linear(3, 8)
heads = nn.ModuleList([nn.Linear(8, 1) for _ in range(3)])
params = list(shared.parameters()) + list(heads.parameters())
opt = torch.optim.Adam(params, lr=1e-3)
x = torch.randn(16, 3)
targets = [torch.randn(16, 1) for _ in heads]


def closure():
    opt.zero_grad()
    h = torch.relu(shared(x))
    losses = [((head(h) - t) ** 2).mean() for head, t in zip(heads, targets)]
    total = torch.stack(losses)  # ALSO
    total.backward()  # LINE
    return total


opt.step(closure)
