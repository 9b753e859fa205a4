# code: retain_graph_leak
import torch
from torch import nn


class Runner:
    def __init__(self, retain=True):
        self.net = nn.Linear(3, 1)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.retain = retain
        self.loss = None

    def forward(self, x):
        self.loss = self.net(x).pow(2).mean()
        return self.loss

    def backward(self):
        self.opt.zero_grad()
        self.loss.backward(retain_graph=self.retain)  # LINE

    def update(self):
        self.opt.step()


r = Runner()
for i in range(6):
    r.forward(torch.randn(5, 3))
    r.backward()
    r.update()
