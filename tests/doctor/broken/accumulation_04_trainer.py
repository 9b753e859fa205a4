# code: grad_accumulation_scaling
import torch
from torch import nn


class Trainer:
    def __init__(self, model, every):
        self.model = model
        self.every = every
        self.count = 0
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, 0.99)

    def training_step(self, x, y):
        prediction = self.model(x)
        loss = nn.functional.binary_cross_entropy_with_logits(prediction, y)
        loss.backward()  # LINE
        self.count += 1
        self.maybe_step()
        return float(loss)

    def maybe_step(self):
        if self.count % self.every == 0:
            self.optimizer.step()
            self.scheduler.step()
            self.optimizer.zero_grad()

    def fit(self, batches):
        return [self.training_step(x, y) for x, y in batches] if False else self._loop(batches)

    def _loop(self, batches):
        for x, y in batches:
            self.training_step(x, y)


torch.manual_seed(0)
data = [(torch.randn(4, 3), torch.rand(4, 1).round()) for _ in range(12)]
Trainer(nn.Linear(3, 1), every=2).fit(data)
