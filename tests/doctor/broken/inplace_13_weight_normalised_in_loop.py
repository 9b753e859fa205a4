# code: inplace_corruption
import torch

W = torch.randn(4, 4, requires_grad=True)
opt = torch.optim.SGD([W], lr=0.1)
x = torch.randn(2, 4)
for _ in range(3):
    opt.zero_grad()
    y = torch.sin(x @ W) @ W  # ALSO
    with torch.no_grad():
        W.div_(W.norm())  # LINE
    y.sum().backward()
    opt.step()
