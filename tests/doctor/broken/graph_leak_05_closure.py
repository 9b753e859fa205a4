# code: graph_leak
import torch
from torch import nn


def make_recorder():
    seen = []

    def record(value):
        seen.append(value)  # ALSO
        return len(seen)

    return record


record = make_recorder()
model = nn.Linear(2, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(8):
    out = model(torch.randn(4, 2))  # LINE
    loss = out.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    record(out)
