# code: inplace_corruption
import torch

state = torch.zeros(3, 4)
w = torch.nn.Parameter(torch.randn(4, 4))
total = 0.0
for t in range(3):
    new = torch.tanh(state @ w)  # ALSO
    total = total + new.pow(2).sum()  # ALSO
    row = new[0]
    row.mul_(0.5)  # LINE
    state = new
total.backward()
