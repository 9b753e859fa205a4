# code: dtype_cut
import torch
from torch import nn

model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(5):
    x, counts = torch.randn(8, 3), torch.randint(0, 5, (8, 1)).float()
    predicted = torch.round(model(x))  # LINE
    loss = nn.functional.mse_loss(predicted, counts)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
