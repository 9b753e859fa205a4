# code: dtype_cut, training_without_grad
import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
target = torch.arange(8).float()
for _ in range(4):
    scores = net(torch.randn(8, 3)).squeeze(1)
    ranks = scores.argsort().argsort().float()  # LINE
    loss = (ranks - target).square().mean()
    loss.requires_grad_()
    opt.zero_grad()
    loss.backward()
    opt.step()
