# code: nan_origin
import torch

x = torch.tensor([0.0, 2.0], requires_grad=True)


def f(x):
    inv = torch.sin(x) / x  # LINE
    return torch.where(x == 0, torch.ones_like(x), inv)


for _ in range(3):
    f(x).sum().backward()
    x.grad = None
