# code: inference_tensor_misuse
import torch
from torch import nn

model = nn.Linear(4, 4)
masks = []
with torch.inference_mode():
    for _ in range(2):
        masks.append(torch.bernoulli(torch.full((4,), 0.5)))  # ALSO
out = model(torch.randn(3, 4))
for mask in masks:
    out = out * mask  # LINE
out.sum().backward()
