# code: disconnected_parameter
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.gain = nn.Parameter(torch.ones(4)) * 0.1  # LINE

    def forward(self, x):
        return self.lin(x) * self.gain


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)  # ALSO
for _ in range(6):
    x = torch.randn(8, 4)
    loss = (net(x) - x).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
