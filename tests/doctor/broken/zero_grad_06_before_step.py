# code: missing_zero_grad
import torch
from torch import nn

torch.manual_seed(0)


def train(model, optimizer, batches):
    for x, y in batches:
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.zero_grad()  # ALSO
        optimizer.step()  # LINE


model = nn.Linear(5, 2)
train(model, torch.optim.SGD(model.parameters(), lr=0.1), [(torch.randn(4, 5), torch.randn(4, 2)) for _ in range(3)])
