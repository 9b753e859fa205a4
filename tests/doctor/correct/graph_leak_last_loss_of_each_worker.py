import torch
from torch import nn

torch.manual_seed(0)


class Worker:
    def __init__(self, lr):
        self.net = nn.Linear(3, 1)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=lr)
        self.loss = None

    def step(self):
        x = torch.randn(8, 3)
        self.loss = (self.net(x) - x[:, :1]).pow(2).mean()
        self.opt.zero_grad()
        self.loss.backward()
        self.opt.step()


population = [Worker(10**-k) for k in (1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5)]
for round_ in range(6):
    for w in population:
        w.step()
    population.sort(key=lambda w: w.loss.item())
