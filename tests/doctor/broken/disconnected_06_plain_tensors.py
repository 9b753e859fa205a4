# code: disconnected_parameter
import torch

torch.manual_seed(0)
w1 = torch.randn(3, 8, requires_grad=True)
b1 = torch.zeros(8, requires_grad=True)
w2 = torch.randn(8, 1, requires_grad=True)  # LINE
b2 = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([w1, b1, b2], lr=0.01)  # ALSO
x = torch.randn(32, 3)
y = x.prod(1, keepdim=True)
for _ in range(10):
    optimizer.zero_grad()
    prediction = torch.tanh(x @ w1 + b1) @ w2 + b2
    loss = (prediction - y).pow(2).mean()
    loss.backward()
    optimizer.step()
