# code: mode_confusion
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.ReLU(), nn.Linear(8, 1))
x, y = torch.randn(32, 4), torch.randn(32, 1)
model.eval()  # LINE
for step in range(8):
    loss = ((model(x) - y) ** 2).mean()  # ALSO
    model.zero_grad()
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            p -= 0.05 * p.grad
