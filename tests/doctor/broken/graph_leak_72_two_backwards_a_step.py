# code: graph_leak
import torch
from torch import nn

# GAN: d losses kept, two backwards a step
G, D = nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
go, do = torch.optim.Adam(G.parameters(), 1e-3), torch.optim.Adam(D.parameters(), 1e-3)
sp = nn.functional.softplus
d_hist, g_hist = [], []
for it in range(40):
    fake = G(torch.randn(8, 2))
    dl = sp(-D(torch.randn(8, 2))).mean() + sp(D(fake.detach())).mean()
    do.zero_grad()
    dl.backward()
    do.step()
    gl = sp(-D(fake)).mean()  # LINE
    go.zero_grad()
    gl.backward()
    go.step()
    d_hist.append(dl.item())
    g_hist.append(gl)  # ALSO
