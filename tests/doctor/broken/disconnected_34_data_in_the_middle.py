# code: disconnected_parameter, training_without_grad
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)  # LINE
        self.second = nn.Linear(8, 2)

    def forward(self, x):
        h = F.relu(self.first(x))
        h = h.data  # LINE
        return self.second(h)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)  # ALSO
for epoch in range(2):
    for x in torch.randn(4, 8, 4):
        opt.zero_grad()
        F.cross_entropy(net(x), torch.zeros(8, dtype=torch.long)).backward()
        opt.step()
