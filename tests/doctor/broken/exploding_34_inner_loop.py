# code: exploding_gradient
import torch
from torch import nn

torch.manual_seed(0)
w = nn.Parameter(torch.randn(3) * 0.5)
meta_opt = torch.optim.SGD([w], lr=1e-5)
for it in range(30):
    inner_lr = 0.05 if it < 24 else 30.0
    x = torch.randn(10, 3)
    y = x.sum(1)
    fast = w
    for _ in range(5):
        inner = ((x @ fast - y) ** 2).mean()
        (g,) = torch.autograd.grad(inner, fast, create_graph=True)
        fast = fast - inner_lr * g
    outer = ((x @ fast - y) ** 2).mean()
    meta_opt.zero_grad()
    outer.backward()  # LINE
    meta_opt.step()
