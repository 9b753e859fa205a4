# code: training_without_grad
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
opt = torch.optim.Adam(net.parameters())


def compute_loss(x, y):
    logits = net(x)
    return nn.functional.cross_entropy(logits, y).detach()  # LINE


for step in range(4):
    loss = compute_loss(torch.randn(6, 4), torch.randint(0, 2, (6,)))
    loss.requires_grad_(True)  # ALSO
    opt.zero_grad()
    loss.backward()
    opt.step()
