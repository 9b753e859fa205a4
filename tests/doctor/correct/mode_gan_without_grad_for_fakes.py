import torch
from torch import nn

G = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 4))
D = nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(), nn.Dropout(0.2), nn.Linear(8, 1))
opt_g, opt_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(8, 1), torch.zeros(8, 1)
fixed = torch.randn(8, 3)
images = []
for step in range(6):
    with torch.no_grad():
        fake = G(torch.randn(8, 3))
    d_loss = bce(D(torch.randn(8, 4)), ones) + bce(D(fake), zeros)
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    g_loss = bce(D(G(torch.randn(8, 3))), ones)
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    if step % 2 == 0:
        with torch.no_grad():
            images.append(G(fixed).detach().clamp(-1, 1))
