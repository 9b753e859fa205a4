import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opts = {p: torch.optim.SGD([p], lr=0.05) for p in net.parameters()}


def hook(p):
    opts[p].step()
    opts[p].zero_grad()


for p in net.parameters():
    p.register_post_accumulate_grad_hook(hook)
for i in range(6):
    x = torch.randn(8, 4)
    (net(x) - x[:, :1]).pow(2).mean().backward()
