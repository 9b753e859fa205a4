# code: stale_optimizer, disconnected_parameter
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # LINE
model[2] = nn.Linear(8, 3)  # ALSO
for _ in range(4):
    x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
