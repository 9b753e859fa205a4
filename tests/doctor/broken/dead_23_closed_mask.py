# code: dead_gradient
import torch
from torch import nn

torch.manual_seed(0)


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.register_buffer("mask", torch.zeros(3))
        self.out = nn.Linear(3, 1)

    def forward(self, x):
        h = self.fc(x) * self.mask  # LINE
        return self.out(h + x)


net = Gated()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    x = torch.randn(8, 3)
    opt.zero_grad()
    net(x).pow(2).mean().backward()
    opt.step()
