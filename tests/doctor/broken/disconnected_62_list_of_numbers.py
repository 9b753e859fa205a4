# code: disconnected_parameter
import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))  # LINE
        self.bias = nn.Parameter(torch.zeros(n))

    def forward(self, x):
        w = torch.tensor(self.weight.tolist())
        return x * w + self.bias


net = nn.Sequential(nn.Linear(4, 8), Scale(8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)  # ALSO
x, y = torch.randn(20, 4), torch.randn(20, 1)
for _ in range(5):
    opt.zero_grad()
    ((net(x) - y) ** 2).mean().backward()
    opt.step()
