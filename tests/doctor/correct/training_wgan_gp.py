import torch
from torch import nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
og = torch.optim.Adam(G.parameters(), 1e-4, betas=(0, 0.9))
od = torch.optim.Adam(D.parameters(), 1e-4, betas=(0, 0.9))
one = torch.ones(())
for it in range(5):
    for _ in range(5):
        D.zero_grad()
        real = torch.randn(8, 2) + 3
        dr = D(real).mean()
        dr.backward(-one)
        fake = G(torch.randn(8, 2)).detach()
        df = D(fake).mean()
        df.backward(one)
        a = torch.rand(8, 1)
        x = (a * real + (1 - a) * fake).requires_grad_(True)
        g = torch.autograd.grad(D(x).sum(), x, create_graph=True)[0]
        gp = 10 * ((g.norm(2, dim=1) - 1) ** 2).mean()
        gp.backward()
        od.step()
    for p in D.parameters():
        p.requires_grad = False
    G.zero_grad()
    gl = D(G(torch.randn(8, 2))).mean()
    gl.backward(-one)
    og.step()
    for p in D.parameters():
        p.requires_grad = True
