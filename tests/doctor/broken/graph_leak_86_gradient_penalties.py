# code: graph_leak
import torch
import torch.nn as nn
from torch import autograd


def gradient_penalty(D, real, fake):
    eps = torch.rand(real.size(0), 1)
    x = (eps * real + (1 - eps) * fake).requires_grad_(True)
    grad = autograd.grad(D(x).sum(), x, create_graph=True)[0]
    return ((grad.norm(2, dim=1) - 1) ** 2).mean()  # LINE


D = nn.Sequential(nn.Linear(2, 32), nn.SiLU(), nn.Linear(32, 1))
G = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
opt_d = torch.optim.Adam(D.parameters(), 1e-3, betas=(0.0, 0.9))
opt_g = torch.optim.Adam(G.parameters(), 1e-3, betas=(0.0, 0.9))
stats = {"gp": [], "w": []}
for step in range(30):
    real = torch.randn(16, 2) + 2
    fake = G(torch.randn(16, 4)).detach()
    gp = gradient_penalty(D, real, fake)
    w = D(fake).mean() - D(real).mean()
    opt_d.zero_grad()
    (w + 10 * gp).backward()
    opt_d.step()
    stats["gp"].append(gp)  # ALSO
    stats["w"].append(w.item())
    g_loss = -D(G(torch.randn(16, 4))).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
