# code: non_scalar_backward
import torch

w = torch.randn(3, requires_grad=True)
x = torch.randn(8, 3)
losses = (x @ w - 1.0) ** 2  # ALSO
losses.backward()  # LINE
