# code: stale_optimizer
import copy

import torch
import torch.nn as nn


class EarlyStopping:
    def __init__(self):
        self.best, self.state = float("inf"), None

    def __call__(self, val, model):
        if val < self.best:
            self.best, self.state = val, copy.deepcopy(model)
            return model
        return copy.deepcopy(self.state)  # ALSO


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.05)  # LINE
stopper = EarlyStopping()
vals = [1.0, 0.9, 1.1, 1.2, 1.0, 0.95]
for epoch in range(6):
    for _ in range(6):
        x = torch.randn(16, 4)
        loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    model = stopper(vals[epoch], model)
