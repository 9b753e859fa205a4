# code: missing_zero_grad
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
x = torch.randn(30, 3)
y = x @ torch.tensor([[1.0], [-2.0], [0.5]])
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=4)


def closure():
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()  # LINE
    return loss


for _ in range(3):
    optimizer.step(closure)
