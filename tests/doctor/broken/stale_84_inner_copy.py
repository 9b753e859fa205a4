# code: stale_optimizer
import copy

import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
inner_opt = torch.optim.SGD(net.parameters(), lr=0.02)  # LINE


def adapt(task, steps=8):
    fast = copy.deepcopy(net)  # ALSO
    for _ in range(steps):
        x = torch.rand(10, 1) * 2 - 1
        loss = ((fast(x) - torch.sin(3 * x + task)) ** 2).mean()
        inner_opt.zero_grad()
        loss.backward()
        inner_opt.step()
    return fast


for it in range(6):
    fast = adapt(float(it))
    with torch.no_grad():
        for p, q in zip(net.parameters(), fast.parameters()):
            p.add_(q - p, alpha=0.1)
