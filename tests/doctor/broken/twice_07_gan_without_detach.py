# code: backward_twice
import torch
from torch import nn

G = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
D = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
opt_d = torch.optim.SGD(D.parameters(), lr=0.0)
opt_g = torch.optim.SGD(G.parameters(), lr=0.0)
bce = nn.BCEWithLogitsLoss()
for _ in range(3):
    real = torch.randn(8, 2)
    fake = G(torch.randn(8, 2))  # ALSO
    opt_d.zero_grad()
    d_loss = bce(D(real), torch.ones(8, 1)) + bce(D(fake), torch.zeros(8, 1))
    d_loss.backward()
    opt_g.zero_grad()
    g_loss = bce(D(fake), torch.ones(8, 1))
    g_loss.backward()  # LINE
    opt_g.step()
