# code: disconnected_parameter
import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.gain = torch.ones(2, requires_grad=True)  # LINE

    def forward(self, x):
        return self.fc(x) * self.gain


model = Scaled()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # ALSO
for step in range(6):
    x = torch.randn(4, 3)
    loss = nn.functional.mse_loss(model(x), x[:, :2])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
