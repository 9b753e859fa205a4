# code: dead_gradient
import torch
from torch import nn

torch.manual_seed(0)


class ScaledBranch(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(d, d), nn.ReLU(), nn.Linear(d, d))
        self.alpha = nn.Parameter(torch.zeros(1))  # ALSO
        self.beta = nn.Parameter(torch.zeros(1))  # ALSO

    def forward(self, x):
        gate = self.alpha * self.beta  # LINE
        return x + gate * self.f(x)


net = nn.Sequential(nn.Linear(4, 8), ScaledBranch(8), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(40):
    x = torch.randn(16, 4)
    loss = (net(x) - x.prod(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
