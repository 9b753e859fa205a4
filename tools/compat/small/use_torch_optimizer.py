"""Optimizers of the collection, each on the same problem."""

import torch
import torch_optimizer
from torch import nn

x, y = torch.randn(16, 6), torch.randn(16, 1)
names = [
    "A2GradExp",
    "A2GradInc",
    "A2GradUni",
    "AccSGD",
    "AdaBelief",
    "AdaBound",
    "AdaMod",
    "Adafactor",
    "AdamP",
    "AggMo",
    "Apollo",
    "DiffGrad",
    "Lamb",
    "LARS",
    "MADGRAD",
    "NovoGrad",
    "PID",
    "QHAdam",
    "QHM",
    "RAdam",
    "Ranger",
    "RangerQH",
    "RangerVA",
    "SGDP",
    "SGDW",
    "SWATS",
    "Yogi",
]
for name in names:
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
    kind = getattr(torch_optimizer, name)
    optimizer = (
        kind(model.parameters()) if name in ("Adafactor", "A2GradExp", "A2GradInc", "A2GradUni") else kind(model.parameters(), lr=0.01)
    )
    for _ in range(4):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward(create_graph=False)
        optimizer.step()
