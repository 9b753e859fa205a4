# code: nan_origin
import torch

w = torch.zeros(3, requires_grad=True)
for _ in range(3):
    loss = torch.sqrt((w**2).sum())  # LINE
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad = None
