# code: dead_gradient
import torch
from torch import nn

torch.manual_seed(0)


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 8)
        self.fc2 = nn.Linear(8, 1)
        for p in self.parameters():
            nn.init.zeros_(p)  # ALSO

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))  # LINE


net = MLP()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(6):
    x = torch.randn(8, 4)
    opt.zero_grad()
    (net(x) - x.sum(1, keepdim=True)).pow(2).mean().backward()
    opt.step()
