# code: graph_leak
import torch
from torch import nn


class Callback:
    def on_batch_end(self, trainer):
        raise NotImplementedError


class History(Callback):
    def __init__(self):
        self.records = []

    def on_batch_end(self, trainer):
        self.records.append({"step": trainer.step, "loss": trainer.loss, "lr": 0.1})  # ALSO


class Trainer:
    def __init__(self, net, callbacks):
        self.net, self.callbacks = net, callbacks
        self.opt = torch.optim.SGD(net.parameters(), 0.1)
        self.step = 0

    def fit(self, data):
        for x, y in data:
            self.opt.zero_grad()
            self.loss = nn.functional.mse_loss(self.net(x), y)  # LINE
            self.loss.backward()
            self.opt.step()
            self.step += 1
            for c in self.callbacks:
                c.on_batch_end(self)


Trainer(nn.Linear(3, 1), [History()]).fit([(torch.randn(5, 3), torch.randn(5, 1)) for _ in range(12)])
