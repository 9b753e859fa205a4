import torch
from torch import nn

model = nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(6, 4), torch.randn(6, 1)
for _ in range(3):
    opt.zero_grad()
    losses = nn.functional.mse_loss(model(x), y, reduction="none")
    for i, loss in enumerate(losses):
        loss.backward(retain_graph=i + 1 < len(losses))
    for p in model.parameters():
        p.grad /= len(losses)
    opt.step()
