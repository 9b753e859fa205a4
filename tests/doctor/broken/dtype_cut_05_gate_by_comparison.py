# code: dtype_cut
import torch
from torch import nn


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(4, 4)
        self.body = nn.Linear(4, 1)

    def forward(self, x):
        keep = (self.gate(x) > 0).float()  # LINE
        return self.body(x * keep)


model = Gated()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(6):
    x = torch.randn(8, 4)
    loss = nn.functional.mse_loss(model(x), x[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
