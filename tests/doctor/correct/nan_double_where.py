import torch

x = torch.tensor([0.0, 1.0, 4.0], requires_grad=True)
for _ in range(5):
    safe = torch.where(x > 0, x, torch.ones_like(x))
    y = torch.where(x > 0, torch.sqrt(safe), torch.zeros_like(x))
    y.sum().backward()
    safe = torch.where(x > 0, x, torch.ones_like(x))
    z = torch.where(x > 0, torch.log(safe), torch.tensor(float("-inf")))
    z.exp().sum().backward()
    x.grad = None
best = torch.tensor(float("inf"))
for _ in range(3):
    best = torch.minimum(best, (x.detach() ** 2).sum())
