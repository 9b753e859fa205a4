import torch
from torch import nn


def sinkhorn(cost, eps=0.1, rounds=15):
    n, m = cost.shape
    u, v = torch.zeros(n), torch.zeros(m)
    for _ in range(rounds):
        u = -eps * torch.logsumexp((v - cost) / eps, 1) + eps * torch.log(torch.tensor(1 / n))
        v = -eps * torch.logsumexp((u.unsqueeze(1) - cost) / eps, 0)
    return torch.exp((u.unsqueeze(1) + v - cost) / eps)


torch.manual_seed(0)
net = nn.Linear(2, 2)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(6):
    x, y = net(torch.randn(12, 2)), torch.randn(12, 2) + 1
    cost = torch.cdist(x, y).pow(2)
    plan = sinkhorn(cost.detach())
    one_d = (x[:, 0].unsqueeze(1) - y[:, 0]).abs()  # all pairs, on purpose
    opt.zero_grad()
    ((plan * cost).sum() + 0.1 * (plan * one_d).sum()).backward()
    opt.step()
