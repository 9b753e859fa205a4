from collections import deque

import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
losses, outputs, total, ema = [], [], 0.0, torch.zeros(())
recent = deque(maxlen=5)
last = []
for step in range(16):
    x, y = torch.randn(8, 4), torch.randn(8, 1)
    optimizer.zero_grad()
    out = model(x)
    loss = nn.functional.mse_loss(out, y)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    outputs.append(out.detach())
    total += loss.item()
    ema = 0.9 * ema + 0.1 * loss.detach()
    recent.append(loss)
    last.append(loss)
    if len(last) > 3:
        last.pop(0)
