import torch
from torch import nn


class Prune(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(6, 4))
        self.t = nn.Parameter(torch.tensor(0.2))

    def forward(self, x):
        soft = torch.sigmoid(10 * (self.w.abs() - self.t))
        hard = (self.w.abs() > self.t).float()
        mask = hard + soft - soft.detach()
        return x @ (self.w * mask)


net = Prune()
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(6):
    x = torch.randn(8, 6)
    opt.zero_grad()
    net(x).sub(1).pow(2).mean().backward()
    opt.step()
    sparsity = (net.w == 0).float().mean().item()
    big = (net.w.abs() > 1).sum().item()
