# code: stale_optimizer
import torch
from torch import nn


class Experiment:
    def __init__(self):
        self.build()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.05)  # LINE

    def build(self):
        self.net = nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 1))  # ALSO

    def load(self, state):
        self.build()
        self.net.load_state_dict(state)

    def fit(self, n):
        for _ in range(n):
            x = torch.rand(10, 2)
            self.optimizer.zero_grad()
            loss = (self.net(x) - x.prod(1, keepdim=True)).abs().mean()
            loss.backward()
            self.optimizer.step()


torch.manual_seed(0)
experiment = Experiment()
experiment.load(experiment.net.state_dict())
experiment.fit(4)
