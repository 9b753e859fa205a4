# code: stale_optimizer, disconnected_parameter
import copy

import torch
from torch import nn


class DDQN:
    def __init__(self):
        self.online = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
        self.opt = torch.optim.Adam(self.online.parameters(), lr=1e-3)  # LINE
        self.target = copy.deepcopy(self.online)

    def sync(self):
        self.online = copy.deepcopy(self.target)  # ALSO

    def learn(self):
        s, s2 = torch.randn(8, 3), torch.randn(8, 3)
        with torch.no_grad():
            y = 0.9 * self.target(s2).max(1).values
        loss = (self.online(s).max(1).values - y).pow(2).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()


agent = DDQN()
for t in range(20):
    if t % 5 == 4:
        agent.sync()
    agent.learn()
