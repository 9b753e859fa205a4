# code: dtype_cut
import torch
from torch import nn

model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
    prediction = model(x).argmax(dim=1)  # LINE
    loss = (prediction != y).float().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
