# code: disconnected_parameter
import torch
from torch import nn


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(3, 4)
        self.dec = nn.Linear(4, 3)  # LINE

    def forward(self, x):
        return self.dec(self.enc(x))


net = Two()
opt = torch.optim.SGD(net.enc.parameters(), lr=0.1)  # ALSO
for i in range(4):
    x = torch.randn(6, 3)
    opt.zero_grad()
    (net(x) - x).pow(2).mean().backward()
    opt.step()
