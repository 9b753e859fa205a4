import torch
from torch import nn


class GAN(nn.Module):
    def __init__(self):
        super().__init__()
        self.g = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
        self.d = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(), nn.Dropout(0.2), nn.Linear(8, 1))


gan = GAN()
og = torch.optim.Adam(gan.g.parameters(), lr=1e-3)
od = torch.optim.Adam(gan.d.parameters(), lr=1e-3)
images = []
for step in range(6):
    real = torch.randn(8, 2)
    with torch.no_grad():
        fake = gan.g(torch.randn(8, 3))
    ld = nn.functional.softplus(gan.d(fake)).mean() + nn.functional.softplus(-gan.d(real)).mean()
    od.zero_grad()
    ld.backward()
    od.step()
    lg = nn.functional.softplus(-gan.d(gan.g(torch.randn(8, 3)))).mean()
    og.zero_grad()
    lg.backward()
    og.step()
    with torch.no_grad():
        images.append(gan.g(torch.randn(4, 3)))
