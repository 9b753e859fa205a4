# code: non_scalar_backward
import torch
from torch import nn


class Trainer:
    def __init__(self):
        self.model = nn.Linear(4, 1)
        self.criterion = nn.MSELoss(reduction="none")
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def loss(self, x, y):
        return self.criterion(self.model(x), y)  # ALSO

    def fit(self, x, y, steps):
        for _ in range(steps):
            self.optimizer.zero_grad()
            loss = self.loss(x, y)
            loss.backward()  # LINE
            self.optimizer.step()


Trainer().fit(torch.randn(8, 4), torch.randn(8, 1), 3)
