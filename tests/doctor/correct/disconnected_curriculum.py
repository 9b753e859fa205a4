import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(5, 8)
        self.coarse = nn.Linear(8, 2)
        self.fine = nn.Linear(8, 6)

    def forward(self, x):
        h = torch.relu(self.enc(x))
        return self.coarse(h), self.fine(h)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(16):
    x = torch.randn(12, 5)
    c, f = net(x)
    loss = nn.functional.cross_entropy(c, torch.randint(0, 2, (12,)))
    if epoch >= 8:
        loss = loss + nn.functional.cross_entropy(f, torch.randint(0, 6, (12,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
