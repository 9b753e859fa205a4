# code: nan_origin
import torch

w = torch.full((4,), 300.0, requires_grad=True)
for _ in range(3):
    h = w.to(torch.float16)
    energy = h * h  # LINE
    loss = energy.float().mean()
    loss.backward()
    w.data -= 0.1 * w.grad
    w.grad = None
