import torch

torch.manual_seed(0)
w = torch.randn(3, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
v = {id(w): torch.zeros_like(w), id(b): torch.zeros_like(b)}
x = torch.randn(20, 3)
y = x.sum(1, keepdim=True)
for i in range(12):
    loss = (x @ w + b - y).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        for p in (w, b):
            v[id(p)].mul_(0.9).add_(p.grad)
            p -= 0.05 * v[id(p)]
            if i % 3 == 0:
                p.grad = None
            elif i % 3 == 1:
                p.grad.zero_()
            else:
                p.grad.data.zero_()
for i in range(4):
    loss = (x @ w + b - y).abs().mean()
    loss.backward()
    w.data = w.data - 0.01 * w.grad
    b.data = b.data - 0.01 * b.grad
    w.grad, b.grad = torch.zeros_like(w), torch.zeros_like(b)
