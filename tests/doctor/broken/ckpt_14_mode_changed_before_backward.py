# code: checkpoint_side_effects
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.temperature = 1.0

    def forward(self, x):
        return torch.softmax(self.fc(x) / self.temperature, -1)  # ALSO


gate = Gate()
optimizer = torch.optim.SGD(gate.parameters(), lr=0.1)
for step in range(4):
    y = checkpoint(gate, torch.randn(2, 4), use_reentrant=False)  # LINE
    gate.temperature *= 0.5
    optimizer.zero_grad()
    (y * torch.arange(4.0)).sum().backward()
    optimizer.step()
