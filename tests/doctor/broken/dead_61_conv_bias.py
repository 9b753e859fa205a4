# code: dead_gradient
import torch
from torch import nn


def init(m):
    if isinstance(m, nn.Conv2d):
        nn.init.normal_(m.weight, std=0.01)
        nn.init.constant_(m.bias, -5.0)  # ALSO


cnn = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 16, 2))
cnn.apply(init)
opt = torch.optim.SGD(cnn.parameters(), lr=0.01, momentum=0.9)
x = torch.randn(10, 1, 8, 8)
y = torch.randint(0, 2, (10,))
for step in range(5):
    opt.zero_grad()
    logits = cnn(x)  # LINE
    loss = nn.functional.cross_entropy(logits, y)
    loss.backward()
    opt.step()
