# code: training_without_grad
import torch
from torch import nn


def build():
    model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2))
    for param in model.parameters():
        param.requires_grad = False  # LINE
    return model


def train(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(3):
        loss = nn.functional.cross_entropy(model(torch.randn(5, 4)), torch.randint(0, 2, (5,)))
        optimizer.zero_grad()
        loss.backward()  # ALSO
        optimizer.step()


train(build())
