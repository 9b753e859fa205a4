import torch
from torch import nn

torch.manual_seed(0)
w = nn.Parameter(torch.tensor([5.0, 5.0]))
optimizer = torch.optim.SGD([w], lr=0.1)
x = torch.tensor([[1.0, 1.0], [-1.0, -1.0]])
y = torch.tensor([1.0, -1.0])
for _ in range(6):  # every margin is kept: the loss is zero
    optimizer.zero_grad()
    torch.clamp(1 - y * (x @ w), min=0).mean().backward()
    optimizer.step()

rnn = nn.RNN(3, 4)
out = nn.Linear(4, 1)
optimizer = torch.optim.SGD([*rnn.parameters(), *out.parameters()], lr=0.1)
for _ in range(6):  # a single time step: the state it begins with is zero
    x = torch.randn(1, 5, 3)
    optimizer.zero_grad()
    out(rnn(x)[0]).pow(2).mean().backward()
    optimizer.step()
