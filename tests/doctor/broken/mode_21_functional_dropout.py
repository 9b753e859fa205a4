# code: mode_confusion
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 16), nn.Linear(16, 2)

    def forward(self, x):
        h = F.dropout(F.relu(self.a(x)), 0.5)
        return self.b(h)


net = Net()
opt = torch.optim.Adam(net.parameters())


def accuracy(x, y):
    net.eval()
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()  # LINE


for epoch in range(3):
    net.train()
    for _ in range(3):
        x, y = torch.randn(8, 4), torch.randint(0, 2, (8,))
        opt.zero_grad()
        F.cross_entropy(net(x), y).backward()  # ALSO
        opt.step()
    print(accuracy(torch.randn(20, 4), torch.randint(0, 2, (20,))))
