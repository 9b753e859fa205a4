# code: training_without_grad
import torch
from torch import nn

model = nn.Sequential(nn.Linear(5, 5), nn.ReLU(), nn.Linear(5, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)


@torch.no_grad()  # LINE
def criterion(pred, target):
    return ((pred - target) ** 2).mean()


for _ in range(3):
    x, y = torch.randn(8, 5), torch.randn(8, 1)
    opt.zero_grad()
    criterion(model(x), y).backward()  # ALSO
    opt.step()
