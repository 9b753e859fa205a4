# code: exploding_gradient
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
for i in range(8):
    x = torch.randn(16, 4)
    if i == 5:
        x = x * 1e4
    loss = (net(x) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()  # LINE
    optimizer.step()
