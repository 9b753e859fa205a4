import torch
from torch import nn

# GradNorm-like multi task weights with retain_graph, each used later
shared = nn.Linear(4, 8)
heads = nn.ModuleList([nn.Linear(8, 1), nn.Linear(8, 1)])
w = nn.Parameter(torch.ones(2))
opt = torch.optim.Adam([*shared.parameters(), *heads.parameters()], 1e-3)
wopt = torch.optim.Adam([w], 1e-2)
for i in range(6):
    x = torch.randn(10, 4)
    h = shared(x).relu()
    ls = torch.stack([(hd(h) - x[:, k : k + 1]).pow(2).mean() for k, hd in enumerate(heads)])
    norms = torch.stack(
        [torch.autograd.grad(w[k] * ls[k], shared.weight, retain_graph=True, create_graph=True)[0].norm() for k in range(2)]
    )
    gl = (norms - norms.mean().detach()).abs().sum()
    wopt.zero_grad()
    gw = torch.autograd.grad(gl, w, retain_graph=True)[0]
    opt.zero_grad()
    (w.detach() * ls).sum().backward()
    w.grad = gw
    opt.step()
    wopt.step()
