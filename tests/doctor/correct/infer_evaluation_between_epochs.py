import torch
from torch import nn

model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
x, y = torch.randn(16, 3), torch.randn(16, 1)
history = []
for epoch in range(4):
    model.train()
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.inference_mode():
        val = nn.functional.mse_loss(model(x), y)
        scores = model(x)
        scores.add_(1)
    history.append(val.item())
    best = scores + 1
