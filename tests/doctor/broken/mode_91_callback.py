# code: mode_confusion
import torch
from torch import nn


class Validate:
    def __init__(self, x, y):
        self.x, self.y = x, y

    @torch.no_grad()
    def __call__(self, net):
        out = net(self.x)  # LINE
        return nn.functional.mse_loss(out, self.y).item()


torch.manual_seed(0)
net = nn.Sequential(nn.Conv1d(2, 6, 3, padding=1), nn.BatchNorm1d(6), nn.ReLU(), nn.Flatten(), nn.Linear(60, 1))
x, y = torch.randn(48, 2, 10), torch.randn(48, 1)
callbacks = [Validate(x[32:], y[32:])]
opt = torch.optim.Adam(net.parameters())
for epoch in range(4):
    net.train()
    for i in range(0, 32, 8):
        opt.zero_grad()
        nn.functional.mse_loss(net(x[i : i + 8]), y[i : i + 8]).backward()
        opt.step()
    print([c(net) for c in callbacks])
