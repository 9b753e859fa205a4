# code: mode_confusion
import torch
from torch import nn


class AE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(10, 6), nn.BatchNorm1d(6), nn.ReLU())
        self.decoder = nn.Linear(6, 10)

    def forward(self, x):
        return self.decoder(self.encoder(x))


ae = AE()
opt = torch.optim.Adam(ae.parameters(), lr=1e-2)
data = torch.randn(50, 10)
for epoch in range(8):
    for batch in data.split(25):
        rec = ae(batch)  # ALSO
        loss = nn.functional.mse_loss(rec, batch)
        opt.zero_grad()
        loss.backward()
        opt.step()
with torch.no_grad():
    codes = ae.encoder(data)  # LINE
nearest = (codes[:, None] - codes).pow(2).sum(-1).argsort(1)[:, 1]
