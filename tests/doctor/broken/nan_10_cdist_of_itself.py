# code: nan_origin
import torch

points = torch.randn(4, 2, requires_grad=True)
for _ in range(3):
    diff = points[:, None] - points[None]
    d = diff.pow(2).sum(-1).pow(0.5)  # LINE
    loss = d.mean()
    loss.backward()
    points.data -= 0.1 * points.grad
    points.grad.zero_()
