# code: grad_accumulation_scaling
import torch
from torch import nn

net = nn.Linear(4, 3)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
it = iter([(torch.randn(8, 4), torch.randint(0, 3, (8,))) for _ in range(40)])
lossf = nn.CrossEntropyLoss()
while True:
    opt.zero_grad()
    try:
        for _ in range(8):
            x, y = next(it)
            lossf(net(x), y).backward()  # LINE
    except StopIteration:
        break
    opt.step()
