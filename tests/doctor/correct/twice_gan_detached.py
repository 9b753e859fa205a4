import torch
from torch import nn

G = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
D = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
opt_d = torch.optim.SGD(D.parameters(), lr=0.01)
opt_g = torch.optim.SGD(G.parameters(), lr=0.01)
bce = nn.BCEWithLogitsLoss()
for _ in range(6):
    fake = G(torch.randn(8, 2))
    opt_d.zero_grad()
    d_loss = bce(D(torch.randn(8, 2)), torch.ones(8, 1)) + bce(D(fake.detach()), torch.zeros(8, 1))
    d_loss.backward()
    opt_d.step()
    opt_g.zero_grad()
    bce(D(fake), torch.ones(8, 1)).backward()
    opt_g.step()
