import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 8), nn.ReLU())
head = nn.Linear(8, 1)
opt = torch.optim.Adam([*net.parameters(), *head.parameters()], lr=1e-2)
for step in range(40):
    x = torch.randn(6, 3)
    if step == 31:
        x = x[:1].repeat(6, 1)
    h = net(x)
    spread = h.std(dim=0)
    p = torch.sigmoid(head(h))
    nll = -(p + 1e-6).log().mean() + (h.pow(2).sum(1) + 1e-6).sqrt().mean()
    loss = nll - 0.1 * spread.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
