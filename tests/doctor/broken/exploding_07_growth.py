# code: exploding_gradient
import torch
from torch import nn


class Trainer:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 1, bias=False))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.9)

    def run(self, n):
        for i in range(n):
            x = torch.ones(8, 2) * 2
            self.optimizer.zero_grad()
            loss = nn.functional.mse_loss(self.net(x), torch.full((8, 1), 3.0))
            loss.backward()  # LINE
            self.optimizer.step()
            if loss.item() > 1e20:
                break


torch.manual_seed(0)
Trainer().run(3)
