import torch
from torch import nn

torch.manual_seed(0)
T = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3)).eval()
S = nn.Linear(4, 3)
o = torch.optim.SGD(S.parameters(), 0.1)
for i in range(6):
    x = torch.randn(8, 4)
    s = S(x)
    t = T(x)
    l = nn.functional.kl_div((s / 2).log_softmax(1), (t / 2).softmax(1).detach(), reduction="batchmean")
    o.zero_grad()
    l.backward()
    o.step()
# gradual unfreezing
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
net.requires_grad_(False)
o = torch.optim.SGD(net.parameters(), 0.1)
for layer in (4, 2, 0):
    net[layer].requires_grad_(True)
    for i in range(4):
        x = torch.randn(8, 4)
        o.zero_grad()
        net(x).pow(2).mean().backward()
        o.step()
