# code: silent_broadcast_loss
import torch
from torch import nn

torch.manual_seed(0)


class Survival(nn.Module):
    def __init__(self):
        super().__init__()
        self.risk = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))

    def loss(self, x, time, event):
        log_hazard = self.risk(x)
        return (log_hazard.exp() * time - event * log_hazard).mean()  # LINE


net = Survival()
opt = torch.optim.Adam(net.parameters())
for _ in range(4):
    opt.zero_grad()
    net.loss(torch.randn(20, 4), torch.rand(20), (torch.rand(20) > 0.5).float()).backward()
    opt.step()
