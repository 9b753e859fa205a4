# code: nan_origin
import torch
from torch import nn


class Penalised(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.delta = nn.Parameter(torch.zeros(4))

    def forward(self, x):
        return self.fc(x)

    def penalty(self):
        return (self.delta**2).sum() ** 0.5  # LINE


def fit(model, steps):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        opt.zero_grad()
        loss = model(torch.randn(2, 3)).pow(2).mean() + model.penalty()
        loss.backward()
        opt.step()


fit(Penalised(), 5)
