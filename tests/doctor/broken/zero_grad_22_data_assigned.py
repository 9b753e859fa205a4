# code: missing_zero_grad
import torch

w = torch.randn(3, requires_grad=True)
for i in range(5):
    loss = (w - 1).pow(2).sum()
    loss.backward()  # LINE
    w.data = w.data - 0.1 * w.grad
