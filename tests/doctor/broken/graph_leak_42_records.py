# code: graph_leak
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Record:
    step: int
    loss: torch.Tensor


model = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
opt = torch.optim.Adam(model.parameters())
records = []
for step in range(6):
    x = torch.randn(5, 2)
    loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()  # LINE
    opt.zero_grad()
    loss.backward()
    opt.step()
    records.append(Record(step, loss))  # ALSO
