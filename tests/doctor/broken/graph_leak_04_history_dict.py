# code: graph_leak
from collections import defaultdict

import torch
from torch import nn


class Trainer:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.history = defaultdict(list)

    def step(self, x, y):
        logits = self.model(x)
        loss = nn.functional.cross_entropy(logits, y)  # LINE
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.history["loss"].append(loss)  # ALSO
        return (logits.argmax(1) == y).float().mean().item()


trainer = Trainer()
for epoch in range(2):
    for _ in range(4):
        trainer.step(torch.randn(8, 5), torch.randint(0, 3, (8,)))
