import torch
from torch import nn

torch.manual_seed(0)
value = nn.Linear(5, 1)
nn.init.zeros_(value.weight)
nn.init.zeros_(value.bias)
opt = torch.optim.SGD(value.parameters(), lr=1e-4)
states = torch.randn(500, 5)
targets = torch.zeros(500)
targets[::100] = 1000.0
priority = torch.full((500,), 1.0)
targets += 1e-3 * torch.randn(500)
for step in range(80):
    p = priority / priority.sum()
    index = torch.multinomial(p, 8)
    weight = (500 * p[index]).pow(-0.4)
    weight = weight / weight.max()
    error = value(states[index]).squeeze(1) - targets[index]
    loss = (weight * error.pow(2)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    priority[index] = error.detach().abs() + 1e-2
