# code: checkpoint_side_effects
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.kv = nn.Linear(d, d), nn.Linear(d, d)
        self.cache = []

    def forward(self, x):
        self.cache.append(self.kv(x).detach().mean(0))  # ALSO
        past = torch.stack(self.cache).mean(0)
        return torch.softmax(self.q(x), -1) * (past + self.kv(x))


torch.manual_seed(0)
net = Attention(4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad()
    y = checkpoint(net, torch.randn(5, 4), use_reentrant=False)  # LINE
    y.pow(2).mean().backward()
    opt.step()
