# code: dead_gradient
import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)
        self.out = nn.Linear(4, 1)
        self.reset()

    def reset(self):
        with torch.no_grad():
            self.fc.weight.zero_()
            self.fc.bias.fill_(200.0)  # ALSO

    def forward(self, x):
        gate = torch.sigmoid(self.fc(x))  # LINE
        return self.out(gate)


def train(model, steps):
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(steps):
        x = torch.randn(10, 3)
        loss = (model(x) - x.sum(1, keepdim=True)).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


torch.manual_seed(0)
train(Gate(), 6)
