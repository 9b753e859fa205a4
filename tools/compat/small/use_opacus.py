"""Training with privacy: gradients of each sample, clipped and noised."""

import torch
from opacus import PrivacyEngine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 3))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
data = TensorDataset(torch.randn(48, 1, 8, 8), torch.randint(0, 3, (48,)))
engine = PrivacyEngine(accountant="rdp")
model, optimizer, loader = engine.make_private(
    module=model, optimizer=optimizer, data_loader=DataLoader(data, 12), noise_multiplier=1.0, max_grad_norm=1.0, poisson_sampling=False
)
for _ in range(3):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
if not 0 < engine.get_epsilon(1e-5) < 100:
    raise SystemExit("an epsilon out of range")
