# code: graph_leak
import torch
from torch import nn


class Probe(nn.Module):
    def __init__(self, inner, log):
        super().__init__()
        self.inner, self.log = inner, log

    def forward(self, x):
        y = self.inner(x)  # LINE
        self.log.append(y)  # ALSO
        return y.relu()


torch.manual_seed(0)
log = []
net = nn.Sequential(Probe(nn.Linear(4, 8), log), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(20):
    opt.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    opt.step()
