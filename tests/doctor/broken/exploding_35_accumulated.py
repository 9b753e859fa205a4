# code: exploding_gradient
import torch
from torch import nn

torch.manual_seed(0)


class Trainer:
    def __init__(self, model, accumulate=2):
        self.model, self.accumulate = model, accumulate
        self.opt = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step(self, batches):
        self.opt.zero_grad()
        for x, y in batches:
            loss = nn.functional.mse_loss(self.model(x), y) / self.accumulate
            loss.backward()  # LINE
        self.opt.step()


trainer = Trainer(nn.Sequential(nn.Linear(4, 16), nn.GELU(), nn.Linear(16, 1)))
for i in range(25):
    scale = 1.0 if i < 20 else 1e5
    trainer.step([(torch.randn(8, 4) * scale, torch.randn(8, 1)) for _ in range(2)])
