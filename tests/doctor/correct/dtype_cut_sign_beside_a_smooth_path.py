import torch
from torch import nn

w = nn.Parameter(torch.randn(5))
bits = nn.Parameter(torch.full((5,), 3.7))
optimizer = torch.optim.SGD([w, bits], lr=0.01)
for _ in range(5):
    signed = w.sign() * (w.abs() + 1e-3).sqrt()  # the magnitude carries the gradient
    penalty = (bits - bits.detach().floor()).pow(2).sum()
    loss = (signed - 1).pow(2).mean() + penalty + (w - w.round()).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
