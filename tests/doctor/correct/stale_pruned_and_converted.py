import torch
import torch.nn as nn
import torch.nn.utils.prune as prune

net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(20):
    if step == 8:
        prune.l1_unstructured(net[0], "weight", amount=0.3)
    x = torch.randn(8, 6)
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long()).backward()
    opt.step()
