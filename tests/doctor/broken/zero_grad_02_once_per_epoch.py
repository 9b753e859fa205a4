# code: missing_zero_grad
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class Trainer:
    def __init__(self, model, loader):
        self.model = model
        self.loader = loader
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
        self.criterion = nn.CrossEntropyLoss()

    def epoch(self):
        self.optimizer.zero_grad()  # ALSO
        total = 0.0
        for inputs, labels in self.loader:
            total += self.batch(inputs, labels)
        return total

    def batch(self, inputs, labels):
        loss = self.criterion(self.model(inputs), labels)
        loss.backward()  # LINE
        self.optimizer.step()
        return loss.item()


data = TensorDataset(torch.randn(24, 6), torch.randint(0, 3, (24,)))
trainer = Trainer(nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3)), DataLoader(data, batch_size=8))
for epoch in range(2):
    trainer.epoch()
