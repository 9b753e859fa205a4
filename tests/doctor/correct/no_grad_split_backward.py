import torch
from torch import nn

encoder, heads = nn.Linear(4, 6), nn.ModuleList([nn.Linear(6, 1) for _ in range(3)])
optimizer = torch.optim.SGD([*encoder.parameters(), *heads.parameters()], lr=0.05)
for _ in range(4):
    features = encoder(torch.randn(8, 4))
    copy = features.detach().requires_grad_()  # heads one by one, then the encoder once
    optimizer.zero_grad()
    for head in heads:
        head(copy).pow(2).mean().backward()
    features.backward(copy.grad)
    optimizer.step()
