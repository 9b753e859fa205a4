# code: graph_leak
import queue

import torch
import torch.nn as nn

log_queue = queue.Queue()


class Trainer:
    def __init__(self):
        self.m = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 3))
        self.opt = torch.optim.Adagrad(self.m.parameters())

    def step(self, x):
        out = self.m(x)
        loss = nn.functional.mse_loss(out, x)  # LINE
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        log_queue.put(("loss", loss))  # ALSO


t = Trainer()
for i in range(20):
    t.step(torch.randn(5, 3))
