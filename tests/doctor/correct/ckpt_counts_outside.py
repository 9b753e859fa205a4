import random

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
        self.steps = 0

    def forward(self, x):
        self.steps += 1
        depth = random.randint(1, 3)
        for layer in self.layers[:depth]:
            x = checkpoint(lambda t, layer=layer: torch.tanh(layer(t)), x, use_reentrant=False)
        return x


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
losses = []
for _ in range(5):
    optimizer.zero_grad()
    loss = net(torch.randn(2, 4)).pow(2).mean()
    loss.backward()
    losses.append(loss.item())
    optimizer.step()
