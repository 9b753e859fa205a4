# code: disconnected_parameter
import torch
from torch import nn


class WeightedLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_vars = nn.Parameter(torch.zeros(2))  # LINE

    def forward(self, a, b):
        return (torch.exp(-self.log_vars) * torch.stack([a, b]) + self.log_vars).sum()


torch.manual_seed(0)
model = nn.Linear(4, 2)
criterion = WeightedLoss()
optimizer = torch.optim.Adam(model.parameters())  # ALSO
for _ in range(5):
    out = model(torch.randn(6, 4))
    optimizer.zero_grad()
    criterion(out[:, 0].square().mean(), out[:, 1].abs().mean()).backward()
    optimizer.step()
