# code: grad_accumulation_scaling
import torch
from torch import nn

# physics net: micro batches of collocation points
u = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(u.parameters(), 1e-3)
for it in range(5):
    opt.zero_grad()
    for chunk in torch.rand(32, 1).chunk(4):
        x = chunk.clone().requires_grad_()
        y = u(x)
        (dy,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        ((dy + y) ** 2).mean().backward()  # LINE
    opt.step()
