# code: nan_origin, exploding_gradient
import torch

w = torch.tensor([2.0], requires_grad=True)
optimizer = torch.optim.SGD([w], lr=10.0)
for step in range(60):
    optimizer.zero_grad()
    loss = (w**4).sum()  # LINE
    loss.backward()  # LINE
    optimizer.step()
