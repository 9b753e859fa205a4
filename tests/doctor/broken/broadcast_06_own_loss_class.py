# code: silent_broadcast_loss
import torch
from torch import nn


class HuberLike(nn.Module):
    def forward(self, prediction, target):
        distance = (target - prediction).abs()  # LINE
        return torch.where(distance < 1, 0.5 * distance**2, distance - 0.5).mean()


def fit(model, steps):
    criterion, optimizer = HuberLike(), torch.optim.RMSprop(model.parameters(), lr=1e-3)
    for _ in range(steps):
        x = torch.randn(10, 2)
        loss = criterion(model(x), x[:, 0] * x[:, 1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


fit(nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1)), 4)
