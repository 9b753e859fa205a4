# code: missing_zero_grad
import torch

torch.manual_seed(0)
x = torch.linspace(-1, 1, 20)
target = 3 * x + 1
w = torch.zeros(1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for i in range(10):
    loss = ((w * x + b - target) ** 2).mean()
    loss.backward()  # LINE
    with torch.no_grad():
        w -= 0.1 * w.grad
        b -= 0.1 * b.grad
