# code: exploding_gradient, dead_gradient
"""Importance weights of an old policy that gave nearly nothing to an action."""

import torch

torch.manual_seed(0)
theta = torch.zeros(6, requires_grad=True)
opt = torch.optim.SGD([theta], lr=0.1)
old = torch.full((6,), 1 / 6)
for step in range(15):
    if step == 10:
        old = torch.tensor([0.2, 0.2, 0.2, 0.2, 0.2 - 1e-9, 1e-9])
    p = torch.softmax(theta, 0)
    a = torch.randint(0, 6, (16,)) if step != 10 else torch.full((16,), 5)
    ratio = p[a] / old[a]
    loss = -(ratio * torch.randn(16)).mean()
    opt.zero_grad()
    loss.backward()  # LINE
    opt.step()
