# code: training_without_grad
import torch
import torch.nn as nn


def toggle(net, on):
    for p in net.parameters():
        p.requires_grad_(on)  # LINE


gen = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
disc = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
og = torch.optim.Adam(gen.parameters(), 1e-3)
od = torch.optim.Adam(disc.parameters(), 1e-3)
for step in range(10):
    real = torch.randn(8, 2)
    fake = gen(torch.randn(8, 4))
    d_loss = nn.functional.softplus(-disc(real)).mean() + nn.functional.softplus(disc(fake.detach())).mean()
    od.zero_grad()
    d_loss.backward()  # ALSO
    od.step()
    toggle(disc, False)
    g_loss = nn.functional.softplus(-disc(fake)).mean()
    og.zero_grad()
    g_loss.backward()
    og.step()
