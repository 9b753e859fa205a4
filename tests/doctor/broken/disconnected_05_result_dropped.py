# code: disconnected_parameter
import torch
from torch import nn


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(4, 4)
        self.right = nn.Linear(4, 4)  # LINE
        self.join = nn.Linear(4, 1)

    def forward(self, x):
        left = torch.relu(self.left(x))
        right = torch.relu(self.right(x))
        both = left + left  # right was meant
        return self.join(both)


class Trainer:
    def __init__(self):
        self.model = Branches()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9)  # ALSO

    def run(self, steps):
        for _ in range(steps):
            x = torch.randn(8, 4)
            self.optimizer.zero_grad()
            nn.functional.mse_loss(self.model(x), x.sum(1, keepdim=True)).backward()
            self.optimizer.step()


torch.manual_seed(0)
Trainer().run(4)
