# code: nan_origin
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x = torch.randn(6, 3)
x[2] = 1000.0
with torch.no_grad():
    net.weight.fill_(1.0)
for i in range(3):
    odds = torch.exp(net(x))  # LINE
    prob = odds / (1 + odds)
    ok = (x[:, :1] < 100).float()
    loss = torch.where(ok.bool(), prob, torch.zeros_like(prob)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
