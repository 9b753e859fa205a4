# code: missing_zero_grad
import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
critic = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3)
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3)
bce = nn.BCEWithLogitsLoss()
for step in range(5):
    real = torch.randn(8, 2) + 2
    fake = generator(torch.randn(8, 3))

    opt_g.zero_grad()  # ALSO
    loss_c = bce(critic(real), torch.ones(8, 1)) + bce(critic(fake.detach()), torch.zeros(8, 1))
    loss_c.backward()  # LINE
    opt_c.step()

    opt_g.zero_grad()
    loss_g = bce(critic(fake), torch.ones(8, 1))
    loss_g.backward()
    opt_g.step()
