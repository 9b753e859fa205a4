# code: nan_origin
import torch

torch.manual_seed(0)
w = torch.tensor([1.0], requires_grad=True)
for step in range(60):
    rate = torch.exp(w * step)  # LINE
    loss = (rate / (1 + rate)).sum()
    loss.backward()
    w.data += 0.05
    w.grad = None
