# code: checkpoint_side_effects
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)


class PowerIteration(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w = nn.Parameter(torch.randn(d, d))
        self.register_buffer("u", torch.randn(d))

    def forward(self, x):
        with torch.no_grad():
            v = nn.functional.normalize(self.w.T @ self.u, dim=0)
            self.u.copy_(nn.functional.normalize(self.w @ v, dim=0))  # ALSO
        sigma = self.u @ self.w @ v
        return x @ (self.w / sigma).T


net = PowerIteration(6)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(8):
    x = torch.randn(8, 6)
    loss = (checkpoint(net, x, use_reentrant=False) - x).pow(2).mean()  # LINE
    opt.zero_grad()
    loss.backward()
    opt.step()
