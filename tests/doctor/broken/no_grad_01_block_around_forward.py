# code: training_without_grad
import torch
from torch import nn

model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for _ in range(3):
    optimizer.zero_grad()
    with torch.no_grad():  # LINE
        prediction = model(x)
    loss = nn.functional.mse_loss(prediction, y)
    loss.backward()  # ALSO
    optimizer.step()
