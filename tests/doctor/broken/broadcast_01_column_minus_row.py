# code: silent_broadcast_loss
import torch
from torch import nn

model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(16, 3), torch.randn(16)
for _ in range(4):
    prediction = model(x)
    loss = ((prediction - y) ** 2).mean()  # LINE
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
