# code: nan_origin
import numpy as np
import torch
from torch import nn

data = np.random.default_rng(0).normal(size=(30, 3)).astype(np.float32)
data[:, 2] = 1.0
x = torch.from_numpy(data)
x = (x - x.mean(0)) / x.std(0)  # LINE
y = torch.randn(30, 1)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
for e in range(3):
    loss = nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
