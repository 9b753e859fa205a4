import torch
from torch import nn

torch.manual_seed(0)
words = nn.Embedding(50, 4, padding_idx=0)
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.SGD([*words.parameters(), *net.parameters()], lr=0.1)
for step in range(8):
    tokens = torch.randint(0, 5, (6, 7))
    optimizer.zero_grad()
    hidden = words(tokens).mean(1)
    rounded = hidden + (hidden.round() - hidden).detach()  # a straight-through estimator
    nn.functional.cross_entropy(net(rounded), tokens[:, 0] % 3).backward()
    optimizer.step()
