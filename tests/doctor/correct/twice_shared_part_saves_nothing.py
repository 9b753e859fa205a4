import torch

base = torch.randn(3, requires_grad=True)
shift = torch.randn(3, requires_grad=True)
for _ in range(3):
    w = base + shift
    (w * 2).sum().backward()
    (w * 3).sum().backward()
    base.grad = shift.grad = None
