# code: dtype_cut, dead_gradient
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 4)
table = nn.Embedding(4, 4)
head = nn.Linear(4, 2)
opt = torch.optim.Adam([*net.parameters(), *table.parameters(), *head.parameters()], lr=1e-2)


def f(h):
    return torch.heaviside(h, torch.zeros(1))  # LINE


for step in range(30):
    x = torch.randn(16, 3)
    out = f(net(x))
    loss = F.cross_entropy(head(out), torch.randint(0, 2, (16,))) + table.weight.pow(2).sum() * 1e-3
    opt.zero_grad()
    loss.backward()
    opt.step()
