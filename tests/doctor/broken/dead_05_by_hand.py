# code: dead_gradient
import torch

torch.manual_seed(0)
w1 = torch.zeros(4, 6, requires_grad=True)  # ALSO
w2 = torch.zeros(6, 1, requires_grad=True)  # ALSO
x = torch.randn(20, 4)
y = x.sum(1, keepdim=True)
for epoch in range(10):
    out = torch.relu(x @ w1) @ w2  # LINE
    loss = (out - y).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        for w in (w1, w2):
            w -= 0.1 * w.grad
            w.grad = None
