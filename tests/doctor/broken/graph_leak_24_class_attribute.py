# code: graph_leak
import torch
import torch.nn.functional as F


class Meter:
    total, count = 0.0, 0

    @classmethod
    def update(cls, value, n):
        cls.total = cls.total + value * n  # LINE, ALSO
        cls.count += n


def train(steps):
    w = torch.zeros(3, requires_grad=True)
    for _ in range(steps):
        x = torch.randn(5, 3)
        loss = F.smooth_l1_loss(x @ w, x.sum(1))
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
            w.grad = None
        Meter.update(loss, len(x))


train(12)
