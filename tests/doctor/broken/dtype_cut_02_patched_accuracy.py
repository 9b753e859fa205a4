# code: dtype_cut, training_without_grad
import torch
from torch import nn


def error_rate(scores, labels):
    wrong = (scores > 0) != labels  # LINE
    return wrong.float().mean()


model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.Adam(model.parameters())
for step in range(4):
    loss = error_rate(model(torch.randn(8, 3)).squeeze(1), torch.rand(8) > 0.5)
    loss = loss.requires_grad_()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
