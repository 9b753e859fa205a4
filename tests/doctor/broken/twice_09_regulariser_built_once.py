# code: backward_twice
import torch
from torch import nn


class Trainer:
    def __init__(self):
        self.net = nn.Linear(3, 1)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.0)
        self.l2 = sum((p**2).sum() for p in self.net.parameters())  # ALSO

    def run(self, n):
        for _ in range(n):
            loss = self.net(torch.randn(4, 3)).mean() + 0.01 * self.l2
            self.opt.zero_grad()
            loss.backward()  # LINE
            self.opt.step()


Trainer().run(3)
