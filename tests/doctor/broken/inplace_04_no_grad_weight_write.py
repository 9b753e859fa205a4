# code: inplace_corruption
import torch


def update(params, lr):
    with torch.no_grad():
        for p in params:
            p.sub_(lr * p.grad)  # LINE


a = torch.randn(3, 3, requires_grad=True)
b = torch.randn(3, 3, requires_grad=True)
x = torch.randn(5, 3)
out = torch.tanh(x @ a) @ b  # ALSO
out.pow(2).mean().backward(retain_graph=True)
update([a, b], 0.1)
out.mean().backward()
