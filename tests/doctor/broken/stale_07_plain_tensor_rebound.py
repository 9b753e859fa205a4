# code: stale_optimizer
import torch
from torch import nn


class Bank(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.codes = nn.ParameterList([nn.Parameter(torch.randn(4)) for _ in range(n)])
        self.scale = nn.Parameter(torch.ones(()))

    def grow(self):
        old = list(self.codes)
        self.codes = nn.ParameterList([nn.Parameter(p.detach().clone()) for p in old])  # ALSO

    def forward(self, x):
        return self.scale * (x @ torch.stack(list(self.codes)).t())


torch.manual_seed(0)
bank = Bank(3)
opt = torch.optim.Adam(bank.parameters(), lr=0.01)  # LINE
bank.grow()
for i in range(5):
    x = torch.randn(7, 4)
    opt.zero_grad()
    bank(x).logsumexp(1).mean().backward()
    opt.step()
