import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
optimizer.zero_grad()
for i in range(16):
    x = torch.randn(4, 4)
    loss = nn.functional.mse_loss(net(x), x.sum(1, keepdim=True)) / 4
    loss.backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
