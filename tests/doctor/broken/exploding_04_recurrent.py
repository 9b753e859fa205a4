# code: exploding_gradient
import torch
from torch import nn


class Recurrent(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.step = nn.Linear(size, size, bias=False)
        nn.init.eye_(self.step.weight)
        with torch.no_grad():
            self.step.weight.mul_(1.6)
        self.read = nn.Linear(size, 1)

    def forward(self, h, length):
        for _ in range(length):
            h = self.step(h)
        return self.read(h)


torch.manual_seed(0)
model = Recurrent(4)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
for length in (2, 3, 2, 3, 2, 25, 3):
    optimizer.zero_grad()
    loss = (model(torch.randn(6, 4), length) - 1).abs().mean()
    loss.backward()  # LINE
    optimizer.step()
