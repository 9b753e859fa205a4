import torch
import torch.nn as nn

trunk, heads = nn.Linear(6, 8), nn.ModuleList([nn.Linear(8, 1), nn.Linear(8, 1)])
w = nn.Parameter(torch.ones(2))
opt = torch.optim.SGD([*trunk.parameters(), *heads.parameters()], lr=0.02)
wopt = torch.optim.SGD([w], lr=0.01)
for it in range(15):
    x = torch.randn(16, 6)
    h = trunk(x).tanh()
    losses = [(head(h) - x[:, i : i + 1] * (10**i)).pow(2).mean() for i, head in enumerate(heads)]
    opt.zero_grad()
    norms = []
    for i, l in enumerate(losses):
        g = torch.autograd.grad(w[i] * l, trunk.weight, retain_graph=True, create_graph=True)[0]
        norms.append(g.norm())
    norms = torch.stack(norms)
    gl = (norms - norms.mean().detach()).abs().sum()
    w.grad = torch.autograd.grad(gl, w, retain_graph=True)[0]
    sum(wi.detach() * l for wi, l in zip(w, losses)).backward()
    opt.step()
    wopt.step()
