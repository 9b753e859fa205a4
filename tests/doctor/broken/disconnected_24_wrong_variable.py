# code: disconnected_parameter
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(3, 8)
        self.l2 = nn.Linear(8, 8)  # LINE
        self.l3 = nn.Linear(8, 1)

    def forward(self, x):
        x = torch.relu(self.l1(x))
        y = torch.relu(self.l2(x))
        return self.l3(x)


net = Net()
opt = torch.optim.Adam(net.parameters())  # ALSO
for _ in range(3):
    opt.zero_grad()
    net(torch.randn(4, 3)).mean().backward()
    opt.step()
