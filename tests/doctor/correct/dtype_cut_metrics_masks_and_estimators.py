import torch
from torch import nn


class Quantise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, gradient):
        return gradient


net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(6):
    x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
    h = net[1](net[0](x))
    h = h + (h.round() - h).detach()  # straight through
    h = Quantise.apply(h)
    logits = net[2](h)
    accuracy = (logits.argmax(1) == y).float().mean()
    confident = (logits.softmax(1).max(1).values > 0.2).float()
    hard = logits.argmax(1)
    losses = nn.functional.cross_entropy(logits, y, reduction="none") * confident
    loss = losses.mean() + 0.1 * nn.functional.cross_entropy(logits, hard)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(accuracy.item(), int(confident.sum()))
