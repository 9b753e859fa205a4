import torch
from torch import nn


class Tracker:
    def __init__(self):
        self.items = []

    def add(self, v):
        self.items.append(v)

    def mean(self):
        return torch.stack(self.items).mean().item()


net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(6):
    tracker = Tracker()
    for _ in range(5):
        x = torch.randn(8, 4)
        loss = (net(x) - x[:, :1]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        tracker.add(loss)
    tracker.mean()
