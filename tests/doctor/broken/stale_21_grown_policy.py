# code: stale_optimizer
import torch
from torch import nn


class Agent:
    def __init__(self):
        self.policy = nn.Linear(3, 2)
        self.opt = torch.optim.Adam(self.policy.parameters())  # LINE

    def expand(self):
        new = nn.Linear(3, 4)  # ALSO
        with torch.no_grad():
            new.weight[:2] = self.policy.weight
        self.policy = new

    def train(self, n):
        for _ in range(n):
            loss = self.policy(torch.randn(5, 3)).logsumexp(1).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()


a = Agent()
a.train(10)
a.expand()
a.train(5)
