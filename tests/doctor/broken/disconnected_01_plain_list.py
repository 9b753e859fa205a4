# code: disconnected_parameter
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(4, 8)
        self.blocks = [nn.Linear(8, 8) for _ in range(3)]  # LINE
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        x = torch.relu(self.inp(x))
        for block in self.blocks:
            x = torch.relu(block(x))
        return self.out(x)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)  # ALSO
for _ in range(5):
    optimizer.zero_grad()
    loss = net(torch.randn(16, 4)).pow(2).mean()
    loss.backward()
    optimizer.step()
