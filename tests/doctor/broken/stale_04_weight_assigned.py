# code: stale_optimizer
import torch
from torch import nn


def reinit(layer):
    with torch.no_grad():
        layer.weight = nn.Parameter(torch.randn_like(layer.weight) * 0.01)  # ALSO


torch.manual_seed(0)
net = nn.Linear(6, 2)
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)  # LINE
reinit(net)
for step in range(3):
    x = torch.randn(5, 6)
    optimizer.zero_grad(set_to_none=False)
    loss = nn.functional.mse_loss(net(x), x[:, :2])
    loss.backward()
    optimizer.step()
