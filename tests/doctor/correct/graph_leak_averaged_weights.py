import copy

import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 1))
ema = copy.deepcopy(model).requires_grad_(False)
opt = torch.optim.SGD(model.parameters(), lr=0.01)


@torch.no_grad()
def update(decay):
    for a, p in zip(ema.parameters(), model.parameters()):
        a.mul_(decay).add_(p, alpha=1 - decay)
    for a, b in zip(ema.buffers(), model.buffers()):
        a.copy_(b)


for step in range(10):
    x = torch.randn(16, 4)
    loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    update(0.9)
    if step % 3 == 2:
        ema.eval()
        with torch.no_grad():
            print((ema(x) - x.sum(1, keepdim=True)).square().mean().item())
