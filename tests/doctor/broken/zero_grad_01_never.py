# code: missing_zero_grad
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randn(16, 1)
for _ in range(4):
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()  # LINE
    optimizer.step()
