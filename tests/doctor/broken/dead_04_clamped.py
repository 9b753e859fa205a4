# code: dead_gradient
import torch

torch.manual_seed(0)
weights = torch.full((5,), 3.0, requires_grad=True)  # ALSO
optimizer = torch.optim.SGD([weights], lr=0.1)
for i in range(6):
    bounded = torch.clamp(weights, 0.0, 1.0)  # LINE
    loss = ((bounded - torch.rand(5)) ** 2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
