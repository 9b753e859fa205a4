# code: dtype_cut
import torch
from torch import nn

price = nn.Parameter(torch.tensor([3.3, 4.4, 5.5]))
opt = torch.optim.SGD([price], lr=0.1)
for _ in range(5):
    units = 20 // price  # LINE
    loss = (units - 3).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
