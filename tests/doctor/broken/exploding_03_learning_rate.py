# code: exploding_gradient
import torch

torch.manual_seed(0)
x = torch.randn(50, 3) * 3
y = x @ torch.tensor([1.0, -2.0, 0.5])
w = torch.zeros(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=1.0)
for step in range(7):
    optimizer.zero_grad()
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()  # LINE
    optimizer.step()
