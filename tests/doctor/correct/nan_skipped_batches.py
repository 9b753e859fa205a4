import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(8):
    x = torch.randn(4, 2)
    if i % 3 == 1:
        x[0, 0] = float("nan")
    loss = model(x).pow(2).mean()
    if not torch.isfinite(loss):
        continue
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
