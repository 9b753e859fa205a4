"""Batches are prepared in a thread, with tensors that have nothing to do with the training."""

import queue
import threading

import torch
from torch import nn

torch.manual_seed(0)
ready = queue.Queue(maxsize=2)
whiten = nn.Linear(4, 4).requires_grad_(False)


def prepare():
    for _ in range(12):
        with torch.no_grad():
            ready.put(whiten(torch.randn(8, 4)))
    ready.put(None)


threading.Thread(target=prepare, daemon=True).start()
net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters())
while (x := ready.get()) is not None:
    opt.zero_grad()
    net(x).pow(2).mean().backward()
    opt.step()
