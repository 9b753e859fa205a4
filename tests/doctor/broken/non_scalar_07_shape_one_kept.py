# code: non_scalar_backward
import torch

values = torch.nn.Parameter(torch.zeros(2, 3))
optimizer = torch.optim.SGD([values], lr=0.5)
for epoch in range(3):
    optimizer.zero_grad()
    error = values.mean(dim=1, keepdim=True) - 1.0
    loss = error.abs()  # ALSO
    torch.autograd.backward(loss)  # LINE
    optimizer.step()
