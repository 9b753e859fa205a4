# code: training_without_grad
import torch
from torch import nn

model = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch.set_grad_enabled(False)  # LINE
for step in range(5):
    optimizer.zero_grad()
    loss = model(torch.randn(4, 3)).pow(2).mean()
    if loss.requires_grad:
        loss.backward()
    optimizer.step()
torch.set_grad_enabled(True)
