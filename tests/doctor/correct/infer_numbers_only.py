import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with torch.inference_mode():
    index = torch.randperm(8)
    scale = torch.rand(()).item()
data = torch.randn(8, 2)
for _ in range(3):
    optimizer.zero_grad()
    (model(data) * scale).pow(2).mean().backward()
    optimizer.step()
print(index.tolist())
