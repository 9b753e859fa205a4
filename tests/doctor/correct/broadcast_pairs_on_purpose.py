import torch
from torch import nn

model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
centres = torch.linspace(-1, 1, 8)
for _ in range(4):
    x, y = torch.randn(8, 3), torch.randn(8)
    out = model(x).squeeze(1)
    ranking = torch.relu(1 - (out[:, None] - out[None, :]) * (y[:, None] - y[None, :]).sign()).mean()
    spread = (out.unsqueeze(1) - centres).pow(2).mean()  # each against each centre
    kernel = torch.exp(-((out[:, None] - y) ** 2)).sum()
    loss = ranking + spread + kernel + ((out - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
