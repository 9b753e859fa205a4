# code: disconnected_parameter
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)
        self.bias = torch.zeros(4).requires_grad_()  # LINE

    def forward(self, x):
        return self.fc(x) + self.bias


net = Net()
opt = torch.optim.Adam(net.parameters())  # ALSO
for i in range(4):
    loss = net(torch.randn(6, 3)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
