# code: nan_origin
import torch
from torch import nn

model = nn.Linear(2, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(5, 2)
target = torch.tensor([[1.0, 0.0, 0.0]] * 5)
for step in range(4):
    p = torch.relu(model(x))
    log_p = torch.log(p)  # LINE
    loss = -(target * log_p).sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
