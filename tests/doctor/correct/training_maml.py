import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), 1e-3)


def f(x, p):
    return torch.tanh(x @ p[0].t() + p[1]) @ p[2].t() + p[3]


for it in range(6):
    opt.zero_grad()
    for task in range(4):
        A = torch.rand(1) * 5
        x = torch.randn(10, 1)
        y = A * torch.sin(x)
        p = list(net.parameters())
        l = ((f(x, p) - y) ** 2).mean()
        g = torch.autograd.grad(l, p, create_graph=True)
        p2 = [a - 0.01 * b for a, b in zip(p, g)]
        x = torch.randn(10, 1)
        y = A * torch.sin(x)
        (((f(x, p2) - y) ** 2).mean()).backward()
    opt.step()
