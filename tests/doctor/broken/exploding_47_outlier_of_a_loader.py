# code: exploding_gradient
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(160, 5)
x[130] = 3e5
y = torch.randn(160, 1)


class Trainer:
    def __init__(self, net):
        self.net = net
        self.optim = torch.optim.SGD(net.parameters(), lr=1e-2, momentum=0.9)

    def fit(self, loader):
        for a, b in loader:
            self.optim.zero_grad()
            self.loss(a, b).backward()  # LINE
            self.optim.step()

    def loss(self, a, b):
        return (self.net(a) - b).abs().pow(2).mean()


Trainer(nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 1))).fit(
    DataLoader(TensorDataset(x[:, :5], y), batch_size=16)
)
