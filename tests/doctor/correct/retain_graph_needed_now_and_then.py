import torch
from torch import nn

net = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))
params = list(net.parameters())
opt = torch.optim.SGD(params, lr=0.05)


def grad_norm(loss):
    gs = torch.autograd.grad(loss, params, retain_graph=True)
    return sum(g.pow(2).sum() for g in gs).sqrt().item()


def main():
    for i in range(20):
        x = torch.randn(8, 3)
        loss = (net(x) - x[:, :1]).pow(2).mean()
        n = grad_norm(loss)
        if n < 1e9 and i % 7 == 6:
            opt.zero_grad()
            loss.backward()
            opt.step()


main()
