# code: disconnected_parameter
import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.gain = nn.Parameter(torch.tensor(1.0))  # LINE

    def forward(self, x):
        return torch.tanh(self.fc(x)) * self.gain.item()


net = nn.Sequential(Scaled(), nn.Linear(4, 1))
opt = torch.optim.Adam(net.parameters())  # ALSO
for step in range(6):
    x = torch.randn(10, 4)
    loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
