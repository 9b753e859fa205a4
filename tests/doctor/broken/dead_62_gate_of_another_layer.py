# code: dead_gradient
import torch
from torch import nn


class Highway(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.h = nn.Linear(d, d)
        self.t = nn.Linear(d, d)
        self.t.bias.data.fill_(-200.0)  # ALSO

    def forward(self, x):
        gate = torch.sigmoid(self.t(x))  # LINE
        return gate * torch.tanh(self.h(x)) + (1 - gate) * x  # LINE


net = nn.Sequential(Highway(4), nn.Linear(4, 1))
opt = torch.optim.Adam(net.parameters())
for _ in range(6):
    x = torch.randn(10, 4)
    opt.zero_grad()
    (net(x) - 2).pow(2).mean().backward()
    opt.step()
