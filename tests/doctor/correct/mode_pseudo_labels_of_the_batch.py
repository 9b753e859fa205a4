import torch
from torch import nn

enc = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU())
head = nn.Linear(8, 3)
opt = torch.optim.SGD([*enc.parameters(), *head.parameters()], lr=0.05)
x = torch.randn(30, 6)
for epoch in range(4):
    with torch.no_grad():
        z = enc(x)
        labels = (z @ torch.randn(8, 3)).argmax(1)
    for _ in range(2):
        opt.zero_grad()
        nn.functional.cross_entropy(head(enc(x)), labels).backward()
        opt.step()
