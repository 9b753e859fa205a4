# code: inference_tensor_misuse
import torch
from torch import nn

backbone, head = nn.Linear(4, 8), nn.Linear(8, 2)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
x = torch.randn(6, 4)
with torch.inference_mode():
    features = backbone(x)  # ALSO
for _ in range(3):
    optimizer.zero_grad()
    loss = head(features).pow(2).mean()  # LINE
    loss.backward()
    optimizer.step()
