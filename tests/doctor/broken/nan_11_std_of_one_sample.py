# code: nan_origin
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(5, 3), torch.randn(5, 1))
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for epoch in range(2):
    for x, y in DataLoader(data, batch_size=2):
        out = net(x)
        spread = out.std(0)  # LINE
        loss = (out - y).pow(2).mean() + spread.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
