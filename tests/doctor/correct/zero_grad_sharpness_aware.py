import torch
from torch import nn


# SAM optimizer: two backwards per step
class SAM(torch.optim.Optimizer):
    def __init__(self, params, base, rho=0.05, **kw):
        super().__init__(params, dict(rho=rho, **kw))
        self.base = base(self.param_groups, **kw)
        self.param_groups = self.base.param_groups

    @torch.no_grad()
    def first_step(self):
        norm = torch.norm(torch.stack([p.grad.norm() for g in self.param_groups for p in g["params"] if p.grad is not None]))
        for g in self.param_groups:
            for p in g["params"]:
                if p.grad is not None:
                    self.state[p]["old"] = p.data.clone()
                    p.add_(p.grad * 0.05 / (norm + 1e-12))
        self.zero_grad()

    @torch.no_grad()
    def second_step(self):
        for g in self.param_groups:
            for p in g["params"]:
                if p.grad is not None:
                    p.data = self.state[p]["old"]
        self.base.step()
        self.zero_grad()


net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
opt = SAM(net.parameters(), torch.optim.SGD, lr=0.1)
ce = nn.CrossEntropyLoss()
for i in range(8):
    x, y = torch.randn(8, 4), torch.randint(2, (8,))
    ce(net(x), y).backward()
    opt.first_step()
    ce(net(x), y).backward()
    opt.second_step()
