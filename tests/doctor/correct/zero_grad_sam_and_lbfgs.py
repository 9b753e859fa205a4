import torch
from torch import nn


class SAM:
    def __init__(self, params, base, rho=0.05):
        self.params = list(params)
        self.base = base
        self.rho = rho

    @torch.no_grad()
    def first_step(self):
        norm = torch.norm(torch.stack([p.grad.norm() for p in self.params]))
        self.moved = [p.grad * (self.rho / (norm + 1e-12)) for p in self.params]
        for p, e in zip(self.params, self.moved):
            p.add_(e)
        self.base.zero_grad()

    @torch.no_grad()
    def second_step(self):
        for p, e in zip(self.params, self.moved):
            p.sub_(e)
        self.base.step()
        self.base.zero_grad()


torch.manual_seed(0)
net = nn.Linear(4, 2)
x, y = torch.randn(10, 4), torch.randint(0, 2, (10,))
sam = SAM(net.parameters(), torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9))
for _ in range(5):
    nn.functional.cross_entropy(net(x), y).backward()
    sam.first_step()
    nn.functional.cross_entropy(net(x), y).backward()
    sam.second_step()

lbfgs = torch.optim.LBFGS(net.parameters(), lr=0.1, max_iter=5)


def closure():
    lbfgs.zero_grad()
    for part, goal in zip(x.split(5), y.split(5)):  # accumulates within one evaluation
        loss = nn.functional.cross_entropy(net(part), goal) / 2
        loss.backward()
    return loss


for _ in range(3):
    lbfgs.step(closure)
