# code: backward_twice
import torch
from torch import nn

encoder = nn.Sequential(nn.Linear(4, 8), nn.Tanh())
head_a, head_b = nn.Linear(8, 1), nn.Linear(8, 1)
x = torch.randn(5, 4)
z = encoder(x)  # ALSO
loss_a = head_a(z).pow(2).mean()
loss_b = head_b(z).abs().mean()
loss_a.backward()
loss_b.backward()  # LINE
