import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(10):
    losses = []
    for b in range(5):
        x = torch.randn(8, 6)
        loss = nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long())
        losses.append(loss)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, sum(l.item() for l in losses) / len(losses))
