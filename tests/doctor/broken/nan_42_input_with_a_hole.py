# code: nan_origin
import torch

table = [[1.0, 2.0], [float("nan"), 4.0]]
x = torch.tensor(table, requires_grad=True)  # LINE
w = torch.ones(2)
loss = (x @ w).exp().mean()
(slope,) = torch.autograd.grad(loss, x)
print(slope)
