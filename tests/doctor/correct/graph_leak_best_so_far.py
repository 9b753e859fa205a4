import torch
from torch import nn

torch.manual_seed(0)


class Tracker:
    best = None
    worst = None
    previous = None

    def see(self, loss):
        if self.best is None or loss < self.best:
            self.best = loss
        if self.worst is None or loss > self.worst:
            self.worst = loss
        change = None if self.previous is None else (loss - self.previous).item()
        self.previous = loss
        return change


net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
tracker = Tracker()
for _ in range(40):
    loss = (net(torch.randn(8, 3)) - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    tracker.see(loss)
