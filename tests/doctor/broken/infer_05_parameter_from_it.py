# code: inference_tensor_misuse
import torch
from torch import nn


@torch.inference_mode()
def initial_codebook(data, k):
    return data[torch.randperm(len(data))[:k]].clone()  # ALSO


data = torch.randn(20, 3)
codes = initial_codebook(data, 4)
codebook = nn.Parameter(codes)  # LINE
optimizer = torch.optim.SGD([codebook], lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    torch.cdist(data, codebook).min(1).values.mean().backward()
    optimizer.step()
