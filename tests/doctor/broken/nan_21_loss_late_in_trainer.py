# code: nan_origin
import torch
from torch import nn


class Trainer:
    def __init__(self):
        torch.manual_seed(1)
        self.model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)

    def probabilities(self, x, keep):
        weights = self.model(x).exp() * keep
        return weights / weights.sum(1, keepdim=True)  # LINE

    def step(self, x, y, keep):
        p = self.probabilities(x, keep)
        loss = -(p.gather(1, y[:, None]) + 1e-6).log().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


trainer = Trainer()
for i in range(50):
    keep = torch.ones(6, 3)
    if i == 37:
        keep[4] = 0.0
    trainer.step(torch.randn(6, 4), torch.randint(0, 3, (6,)), keep)
