# code: mode_confusion
import torch
from torch import nn


class Experiment:
    def __init__(self):
        self.encoder = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1))
        self.model = nn.ModuleDict({"body": self.encoder, "head": nn.Linear(8, 1)})
        self.classifier = nn.Sequential(self.encoder, self.model["head"])
        self.optimizer = torch.optim.Adam(self.classifier.parameters())

    def training_step(self, batch):
        x, y = batch
        return nn.functional.mse_loss(self.classifier(x), y)  # ALSO

    def validation_step(self, batch):
        x, y = batch
        return nn.functional.mse_loss(self.classifier(x), y)  # LINE

    def fit(self, train, val, epochs):
        for _ in range(epochs):
            for batch in train:
                loss = self.training_step(batch)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            with torch.no_grad():
                losses = torch.stack([self.validation_step(batch) for batch in val])
            print(losses.mean().item())


make = lambda n: [(torch.randn(4, 4), torch.randn(4, 1)) for _ in range(n)]
Experiment().fit(make(3), make(2), 3)
