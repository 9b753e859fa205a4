"""A hundred anchors, few of them positive; images without any are common."""

import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.cls, self.box = nn.Conv2d(8, 1, 1), nn.Conv2d(8, 4, 1)
        nn.init.constant_(self.cls.bias, -4.6)

    def forward(self, x):
        h = torch.relu(self.conv(x))
        return self.cls(h).flatten(1), self.box(h).flatten(2)


def focal(logit, y, alpha=0.25, gamma=2.0):
    p = logit.sigmoid()
    ce = nn.functional.binary_cross_entropy_with_logits(logit, y, reduction="none")
    pt = p * y + (1 - p) * (1 - y)
    return ((alpha * y + (1 - alpha) * (1 - y)) * (1 - pt) ** gamma * ce).sum()


torch.manual_seed(0)
net = Head()
opt = torch.optim.SGD(net.parameters(), lr=1e-2, momentum=0.9)
for step in range(60):
    x = torch.randn(2, 3, 10, 10)
    y = torch.zeros(2, 100)
    if step % 10 == 9:
        y[0, 17] = y[1, 60] = 1
        x[0, :, 1, 7] += 4
    positive = y > 0
    logit, box = net(x)
    loss = focal(logit, y) / positive.sum().clamp(min=1)
    if positive.any():
        loss = loss + nn.functional.smooth_l1_loss(box.transpose(1, 2)[positive], torch.zeros(int(positive.sum()), 4))
    opt.zero_grad()
    loss.backward()
    opt.step()
