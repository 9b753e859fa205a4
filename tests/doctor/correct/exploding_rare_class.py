import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(4)
net = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 1))
nn.init.constant_(net[2].bias, -9.0)  # the prior: one in ten thousand
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(100):
    x = torch.randn(16, 10)
    y = torch.zeros(16, 1)
    if step % 30 == 25:
        y[5] = 1.0
    loss = F.binary_cross_entropy_with_logits(net(x), y, pos_weight=torch.tensor(100.0))
    opt.zero_grad()
    loss.backward()
    opt.step()
