# code: backward_twice
import torch

raw = torch.randn(3, 3, requires_grad=True)
scale = torch.nn.Parameter(torch.ones(3))
weight = torch.exp(raw)  # ALSO
optimizer = torch.optim.SGD([raw, scale], lr=0.01)
for step in range(5):
    optimizer.zero_grad()
    x = torch.randn(8, 3)
    loss = ((x @ weight * scale) ** 2).mean()
    loss.backward()  # LINE
    optimizer.step()
