# code: graph_leak
import torch
from torch import nn


class Snapshots:
    def __init__(self, every=1):
        self.every, self.weights = every, []

    def maybe(self, step, model):
        if step % self.every == 0:
            self.weights.append([p.clone() for p in model.parameters()])  # LINE, ALSO


net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
snaps = Snapshots(2)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(30):
    x = torch.randn(16, 4)
    loss = (net(x) - x.mean(1, keepdim=True)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    snaps.maybe(step, net)
