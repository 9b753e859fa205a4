# code: graph_leak  # strict
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters())


def step(x):
    loss = nn.functional.mse_loss(net(x), x[:, :1])  # LINE
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss


for epoch in range(3):
    losses = [step(torch.randn(8, 4)) for _ in range(10)]  # ALSO
    print(sum(losses).item() / 10)
