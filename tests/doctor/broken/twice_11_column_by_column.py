# code: backward_twice
import torch
from torch import nn

m = nn.Sequential(nn.Linear(2, 4), nn.Sigmoid(), nn.Linear(4, 2))
x = torch.randn(3, 2)
out = m(x)  # ALSO
for i in range(2):
    loss = out[:, i].pow(2).sum()
    loss.backward()  # LINE
