# code: graph_leak
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
average = {name: p.detach().clone() for name, p in model.named_parameters()}
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(10):
    x = torch.randn(16, 4)
    loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    for name, p in model.named_parameters():
        average[name] = 0.9 * average[name] + 0.1 * p  # LINE, ALSO
