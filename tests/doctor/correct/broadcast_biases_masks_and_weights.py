import torch
from torch import nn

n = 6
layer = nn.Linear(4, n)
scale, bias = nn.Parameter(torch.ones(n, 1)), nn.Parameter(torch.zeros(n))
optimizer = torch.optim.Adam([*layer.parameters(), scale, bias], lr=1e-2)
class_weight, column_mean = torch.rand(n), torch.rand(n)
for _ in range(4):
    x = torch.randn(n, 4)
    h = layer(x) * scale + bias - column_mean
    attention = (h @ h.t() / n**0.5 + torch.zeros(1, n, n)).softmax(-1)
    row = h.mean(1, keepdim=True)
    normal = (h - row) / (h.var(1, keepdim=True) + 1e-5).sqrt()
    loss = (attention @ normal).pow(2).mean() + (h.pow(2) * class_weight).mean() + (row - x.mean(1, keepdim=True)).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
