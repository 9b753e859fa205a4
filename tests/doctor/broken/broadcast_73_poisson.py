# code: silent_broadcast_loss
import torch
from torch import nn
from torch.distributions import Poisson

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1), nn.Softplus())
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
x = torch.randn(26, 3)
counts = torch.poisson(torch.ones(26) * 2)
for _ in range(20):
    rate = net(x) + 1e-3
    nll = -Poisson(rate).log_prob(counts)  # LINE
    loss = nll.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
