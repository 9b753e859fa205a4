# code: missing_zero_grad
import torch
from torch import nn


class T:
    def __init__(self):
        self.a = nn.Linear(2, 3)
        self.b = nn.Linear(3, 1)
        self.opt = torch.optim.SGD([*self.a.parameters(), *self.b.parameters()], 0.01)

    def step(self, x):
        self.b.zero_grad()  # ALSO
        l = self.b(torch.tanh(self.a(x))).abs().mean()
        l.backward()  # LINE
        self.opt.step()


t = T()
for _ in range(4):
    t.step(torch.randn(5, 2))
