# code: graph_leak
import torch
from torch import nn

activations = []
model = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 1))


def keep(module, inputs, output):
    activations.append(output)  # ALSO


model[1].register_forward_hook(keep)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(6):
    x = torch.randn(10, 3)
    loss = (model(x) - x.sum(1, keepdim=True)).abs().mean()  # LINE
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
