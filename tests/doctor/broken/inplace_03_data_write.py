# code: inplace_corruption
import torch

w = torch.randn(4, requires_grad=True)
x = torch.randn(4)
h = w.exp()
y = (h * h).sum()  # ALSO
h.data.clamp_(max=1.0)  # LINE
y.backward()
