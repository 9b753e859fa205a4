# code: inplace_corruption
import torch
from torch import nn

lin = nn.Linear(3, 3)
x = torch.randn(4, 3)
batch = torch.as_tensor(x.numpy())
out = lin(batch)  # LINE
x.numpy()[:] = 0  # ALSO
loss = (out * 2).sum()
loss.backward()
