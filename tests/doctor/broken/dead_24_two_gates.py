# code: dead_gradient
import torch
from torch import nn

torch.manual_seed(0)
gamma = nn.Parameter(torch.zeros(1))  # ALSO
beta = nn.Parameter(torch.zeros(1))  # ALSO
lin = nn.Linear(3, 1)
opt = torch.optim.SGD([gamma, beta, *lin.parameters()], lr=0.1)
for _ in range(5):
    x = torch.randn(8, 3)
    y = lin(x) + gamma * beta * x.sum(1, keepdim=True)  # LINE
    opt.zero_grad()
    (y - 1).pow(2).mean().backward()
    opt.step()
