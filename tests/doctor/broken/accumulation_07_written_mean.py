# code: grad_accumulation_scaling
import torch

torch.manual_seed(0)
w = torch.zeros(3, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([w, b], lr=0.02)


def stream(n):
    for _ in range(n):
        x = torch.randn(10, 3)
        yield x, x @ torch.tensor([[1.0], [2.0], [3.0]])


pending = 0
for x, y in stream(16):
    residual = x @ w + b - y
    loss = (residual * residual).sum() / len(x)
    loss.backward()  # LINE
    pending += 1
    if pending == 4:
        optimizer.step()
        optimizer.zero_grad()
        pending = 0
