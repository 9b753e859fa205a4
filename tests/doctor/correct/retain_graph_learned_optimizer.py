import torch
import torch.nn as nn

lstm = nn.LSTMCell(1, 6)
out = nn.Linear(6, 1)
meta = torch.optim.Adam([*lstm.parameters(), *out.parameters()], lr=1e-3)
for it in range(6):
    theta = torch.randn(4, requires_grad=True)
    target = torch.randn(4)
    state = (torch.zeros(4, 6), torch.zeros(4, 6))
    losses = 0
    for t in range(12):
        f = (theta - target).pow(2).sum()
        losses = losses + f
        (g,) = torch.autograd.grad(f, theta, retain_graph=True)
        state = lstm(g.detach()[:, None], state)
        theta = theta + 0.1 * out(state[0]).squeeze(1)
        if t % 4 == 3:
            meta.zero_grad()
            losses.backward()
            meta.step()
            theta = theta.detach().requires_grad_()
            state = tuple(s.detach() for s in state)
            losses = 0
