# code: disconnected_parameter
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    d: int = 6
    layers: int = 3


class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.layers = nn.ModuleList()
        for _ in range(cfg.layers):
            self.layers.append(nn.Linear(cfg.d, cfg.d))  # LINE
        self.out = nn.Linear(cfg.d, 1)

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = torch.relu(layer(x))
        return self.out(x)


net = Net(Config())
opt = torch.optim.SGD(net.parameters(), 0.1)  # ALSO
for i in range(6):
    opt.zero_grad()
    net(torch.randn(5, 6)).pow(2).mean().backward()
    opt.step()
