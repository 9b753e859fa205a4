import torch
from torch import nn

torch.manual_seed(0)


def train(net, n):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for i in range(n):
        x = torch.randn(8, 3)
        loss = net(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        yield i, loss


net = nn.Linear(3, 1)
steps = [train(nn.Linear(3, 1), 20) for _ in range(3)]
for rows in zip(*steps):
    total = sum(loss for _, loss in rows)
    print(float(total))
