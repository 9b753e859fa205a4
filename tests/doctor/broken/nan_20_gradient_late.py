# code: nan_origin
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 4, bias=False)
head = nn.Linear(4, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=1e-3)
for step in range(40):
    x = torch.randn(5, 3)
    if step == 30:
        x[2] = 0.0
    h = net(x)
    r = torch.sqrt((h * h).sum(1))  # LINE
    loss = head(h).pow(2).mean() + torch.log1p(r).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
