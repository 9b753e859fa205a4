import torch
from torch import nn


def accumulate(model, batches, optimizer):
    """One backward for several batches: the sum has to keep its graph."""
    total = 0.0
    for x, y in batches:
        total = total + nn.functional.mse_loss(model(x), y) / len(batches)
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
    return total.detach()


net = nn.Sequential(nn.Linear(3, 6), nn.GELU(), nn.Linear(6, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
history = []
for _ in range(8):
    history.append(accumulate(net, [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(5)], opt))
print(torch.stack(history).mean())
