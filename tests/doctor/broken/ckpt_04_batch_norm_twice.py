# code: checkpoint_side_effects
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x):
        x = self.fc(x)
        x = self.norm(x)  # ALSO
        return torch.relu(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)  # LINE
        return x


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(4):
    optimizer.zero_grad()
    net(torch.randn(6, 4)).pow(2).mean().backward()
    optimizer.step()
