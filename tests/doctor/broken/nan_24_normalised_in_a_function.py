# code: nan_origin
import torch
from torch import nn


def standardise(t):
    mu = t.mean(0)
    sigma = t.std(0)
    return (t - mu) / sigma  # LINE


raw = torch.rand(20, 4)
raw[:, 2] = 1.5
features = standardise(raw)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for e in range(5):
    loss = net(features).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
