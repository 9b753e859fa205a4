# code: disconnected_parameter
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 4)
        self.scale = nn.Parameter(torch.ones(4))  # LINE
        self.b = nn.Linear(4, 1)

    def forward(self, x):
        h = self.a(x) * self.scale.detach()
        return self.b(h)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)  # ALSO
for _ in range(5):
    opt.zero_grad()
    net(torch.randn(6, 3)).pow(2).mean().backward()
    opt.step()
