# code: exploding_gradient, nan_origin
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9)
schedule = torch.optim.lr_scheduler.LambdaLR(opt, lambda t: 1.0 if t < 8 else 3000.0)
for t in range(13):
    x = torch.randn(32, 6)
    loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
    if not torch.isfinite(loss):
        break
    opt.zero_grad()
    loss.backward()  # LINE
    opt.step()
    schedule.step()
