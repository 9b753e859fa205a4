# code: checkpoint_side_effects
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Stage(nn.Module):
    seen = 0

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        Stage.seen += x.shape[0]  # ALSO
        return torch.sigmoid(self.fc(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList([Stage(), Stage()])

    def forward(self, x):
        for s in self.stages:
            x = checkpoint(s, x, use_reentrant=False)  # LINE
        return x


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad()
    net(torch.randn(6, 4)).sum().backward()
    opt.step()
