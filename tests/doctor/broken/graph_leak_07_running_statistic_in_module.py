# code: graph_leak
import torch
from torch import nn


class Centered(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.lin = nn.Linear(size, size)
        self.mean = torch.zeros(size)

    def forward(self, x):
        h = self.lin(x)
        self.mean = 0.99 * self.mean + 0.01 * h.mean(0)  # LINE, ALSO
        return h.tanh()


model = nn.Sequential(Centered(4), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(12):
    x = torch.randn(8, 4)
    loss = nn.functional.mse_loss(model(x), x[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
