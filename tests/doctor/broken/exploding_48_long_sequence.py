# code: exploding_gradient
import torch
from torch import nn

torch.manual_seed(0)


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.opt = torch.optim.SGD(model.parameters(), lr=lr)

    def step(self, x, y):
        self.opt.zero_grad()
        hidden = torch.zeros(x.shape[1], 12)
        for frame in x:
            hidden = torch.nn.functional.elu(self.model["in"](frame) + self.model["rec"](hidden))
        loss = (self.model["out"](hidden) - y).pow(2).mean()
        loss.backward()  # LINE
        self.opt.step()


model = nn.ModuleDict({"in": nn.Linear(3, 12), "rec": nn.Linear(12, 12), "out": nn.Linear(12, 1)})
nn.init.eye_(model["rec"].weight)
with torch.no_grad():
    model["rec"].weight.mul_(1.25)
trainer = Trainer(model, 1e-4)
for length in [5] * 10 + [70, 70]:
    trainer.step(torch.randn(length, 8, 3), torch.randn(8, 1))
