import torch
from torch import nn
from torch.func import functional_call

model = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
meta = torch.optim.Adam(model.parameters(), lr=1e-3)
for iteration in range(4):
    meta_loss = 0.0
    for task in range(3):
        amplitude = torch.rand(1) + 0.5
        x = torch.randn(10, 1)
        y = amplitude * x.sin()
        fast = dict(model.named_parameters())
        for inner in range(4):
            loss = nn.functional.mse_loss(functional_call(model, fast, (x,)), y)
            grads = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
            fast = {name: p - 0.1 * g for (name, p), g in zip(fast.items(), grads)}
        meta_loss = meta_loss + nn.functional.mse_loss(functional_call(model, fast, (x,)), y)
    meta.zero_grad()
    meta_loss.backward()
    meta.step()
