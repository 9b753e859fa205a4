import torch
from torch import nn

backbone, head = nn.Linear(4, 8), nn.Linear(8, 2)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
with torch.inference_mode():
    features = backbone(torch.randn(6, 4))
features = features.clone()
for _ in range(3):
    optimizer.zero_grad()
    head(features).pow(2).mean().backward()
    optimizer.step()
