import torch
from torch import nn


class TwoTasks(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(4, 6)
        self.heads = nn.ModuleDict({"a": nn.Linear(6, 1), "b": nn.Linear(6, 2)})
        self.aux = nn.Linear(6, 1)

    def forward(self, x, task, deep=False):
        h = torch.relu(self.trunk(x))
        if deep:
            return self.aux(h)
        return self.heads[task](h)


torch.manual_seed(0)
model = TwoTasks()
optimizer = torch.optim.Adam(model.parameters())
for i in range(20):
    task = "a" if i % 2 else "b"
    x = torch.randn(5, 4)
    optimizer.zero_grad()
    model(x, task, deep=i > 15).pow(2).mean().backward()
    optimizer.step()
for task in ("a", "b"):
    for _ in range(8):
        x = torch.randn(5, 4)
        optimizer.zero_grad()
        model(x, task).pow(2).mean().backward()
        optimizer.step()
