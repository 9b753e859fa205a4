# code: disconnected_parameter
import torch
from torch import nn


class Deep(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.first = nn.Linear(d, d)
        self.rest = nn.ModuleList(nn.Linear(d, d) for _ in range(n))  # LINE
        self.out = nn.Linear(d, 1)

    def forward(self, x):
        x = self.first(x).relu()
        for layer in self.rest:
            x = self.first(x).relu()
        return self.out(x)


torch.manual_seed(0)
net = Deep(5, 2)
opt = torch.optim.Adam(net.parameters())  # ALSO
for _ in range(6):
    opt.zero_grad()
    net(torch.randn(8, 5)).pow(2).mean().backward()
    opt.step()
