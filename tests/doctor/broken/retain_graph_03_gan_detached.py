# code: retain_graph_leak
import torch
from torch import nn

G, D = nn.Linear(2, 4), nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(), nn.Linear(8, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3)
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3)
bce = nn.BCEWithLogitsLoss()


def update_discriminator(real, fake):
    score_real, score_fake = D(real), D(fake.detach())
    loss = bce(score_real, torch.ones_like(score_real)) + bce(score_fake, torch.zeros_like(score_fake))
    opt_d.zero_grad()
    loss.backward(retain_graph=True)  # LINE
    opt_d.step()


def update_generator(fake):
    score = D(fake)
    loss = bce(score, torch.ones_like(score))
    opt_g.zero_grad()
    loss.backward()
    opt_g.step()


for _ in range(5):
    fake = G(torch.randn(8, 2))
    update_discriminator(torch.randn(8, 4), fake)
    update_generator(fake)
