# code: stale_optimizer, disconnected_parameter
import torch

A = torch.randn(4, 4, requires_grad=True)
b = torch.randn(4, requires_grad=True)
opt = torch.optim.SGD([A, b], lr=0.01)  # LINE
A = A.detach().double().requires_grad_()  # ALSO
b = b.detach().double().requires_grad_()  # ALSO
x = torch.randn(25, 4, dtype=torch.float64)
for k in range(5):
    opt.zero_grad()
    r = x @ A - b
    loss = (r * r).mean()
    loss.backward()
    opt.step()
