import torch
from torch import nn

torch.manual_seed(0)
gen = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
dis = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
opt_g = torch.optim.Adam(gen.parameters(), lr=2e-4)
opt_d = torch.optim.Adam(dis.parameters(), lr=2e-4)
bce = nn.BCEWithLogitsLoss()
for _ in range(8):
    real, z = torch.randn(6, 2), torch.randn(6, 3)
    opt_d.zero_grad()
    bce(dis(real), torch.ones(6, 1)).backward()
    fake = gen(z)
    bce(dis(fake.detach()), torch.zeros(6, 1)).backward()
    opt_d.step()
    opt_g.zero_grad()
    bce(dis(fake), torch.ones(6, 1)).backward()  # also adds to what opt_d has used; opt_d zeroes it before its next step
    opt_g.step()
    for p in dis.parameters():
        p.data.clamp_(-0.5, 0.5)
