# code: stale_optimizer
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Linear(4, 6)
        self.head = nn.Linear(6, classes)

    def reset_head(self, classes):
        self.head = nn.Linear(6, classes)  # ALSO

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


def train(model, optimizer, classes, steps):
    for _ in range(steps):
        x, y = torch.randn(9, 4), torch.randint(0, classes, (9,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()


torch.manual_seed(0)
model = Model(5)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # LINE
train(model, optimizer, 5, 30)
model.reset_head(3)
train(model, optimizer, 3, 10)
