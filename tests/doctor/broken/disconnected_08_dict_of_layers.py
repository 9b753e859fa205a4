# code: disconnected_parameter
import torch
from torch import nn


class MultiHead(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.trunk = nn.Linear(5, 6)
        self.heads = {}
        for task in tasks:
            self.heads[task] = nn.Linear(6, 1)  # LINE

    def forward(self, x):
        h = torch.relu(self.trunk(x))
        return {task: head(h) for task, head in self.heads.items()}


def losses(outputs, targets):
    return sum(nn.functional.l1_loss(outputs[k], targets[k]) for k in outputs)


torch.manual_seed(0)
model = MultiHead(["a", "b"])
optimizer = torch.optim.RMSprop(model.parameters())  # ALSO
for _ in range(6):
    x = torch.randn(7, 5)
    loss = losses(model(x), {"a": x[:, :1], "b": x[:, 1:2]})
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
