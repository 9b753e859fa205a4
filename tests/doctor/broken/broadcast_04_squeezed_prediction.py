# code: silent_broadcast_loss
import torch

w = torch.randn(5, requires_grad=True)
b = torch.zeros((), requires_grad=True)
x = torch.randn(12, 5)
y = x.sum(1, keepdim=True)
for i in range(10):
    error = x @ w + b - y  # LINE
    loss = error.abs().sum() / len(x)
    loss.backward()
    with torch.no_grad():
        w -= 0.001 * w.grad
        b -= 0.001 * b.grad
        w.grad.zero_()
        b.grad.zero_()
