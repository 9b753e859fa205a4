# code: missing_zero_grad
import torch
from torch import nn


class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.opt = torch.optim.AdamW(self.body.parameters(), lr=1e-3)

    def compute(self, x):
        (self.body(x) - x).square().mean().backward()

    def reset(self):
        for p in self.body.parameters():
            p.grad = None  # ALSO

    def apply_gradients(self):
        self.opt.step()  # LINE


learner = Learner()
for _ in range(6):
    learner.compute(torch.randn(8, 4))
    learner.reset()
    learner.apply_gradients()
