# code: disconnected_parameter
import torch
from torch import nn


class Refiner(nn.Module):
    def __init__(self, d, rounds):
        super().__init__()
        self.step = nn.GRUCell(d, d)
        self.heads = nn.ModuleList([nn.Linear(d, d) for _ in range(rounds)])  # LINE
        self.head = nn.Linear(d, d)

    def forward(self, x):
        h = torch.zeros_like(x)
        for i in range(len(self.heads)):
            h = self.step(x, h)
            x = x + self.head(h) / (i + 1)
        return x


torch.manual_seed(0)
net = Refiner(4, 3)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)  # ALSO
for _ in range(6):
    x = torch.randn(8, 4)
    opt.zero_grad()
    (net(x) - x.flip(1)).pow(2).mean().backward()
    opt.step()
