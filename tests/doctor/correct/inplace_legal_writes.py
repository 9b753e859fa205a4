import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(inplace=True), nn.Linear(8, 4), nn.Dropout(0.2, inplace=True))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(5):
    optimizer.zero_grad()
    out = model(torch.randn(3, 4))
    out = out + 1
    out += 2
    out[:, 0] = 0.0
    out.mul_(2)
    out.sum().backward()
    optimizer.step()
    with torch.no_grad():
        for p in model.parameters():
            p.clamp_(-1, 1)
