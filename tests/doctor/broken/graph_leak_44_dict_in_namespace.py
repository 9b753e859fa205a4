# code: graph_leak
import types

import torch
from torch import nn

model = nn.Linear(3, 3)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
runs = {}
for epoch in range(8):
    x = torch.randn(4, 3)
    out = model(x)
    loss = nn.functional.cross_entropy(out, torch.tensor([0, 1, 2, 0]))  # LINE
    opt.zero_grad()
    loss.backward()
    opt.step()
    runs[f"epoch{epoch}"] = types.SimpleNamespace(metrics={"loss": loss}, n=4)  # ALSO
