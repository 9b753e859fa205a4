# code: graph_leak
import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
losses = []
for step in range(6):
    x, y = torch.randn(8, 4), torch.randn(8, 1)
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)  # LINE
    loss.backward()
    optimizer.step()
    losses.append(loss)  # ALSO
print(sum(losses).item() / len(losses))
