# code: nan_origin
import torch

torch.manual_seed(0)
w = torch.zeros(2, requires_grad=True)
x = torch.randn(64, 2)
y = (x[:, 0] > 0).float()
for i in range(200):
    p = torch.sigmoid(x @ w * 10)
    loss = -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()  # LINE
    loss.backward()
    with torch.no_grad():
        w -= 1.0 * w.grad
        w.grad.zero_()
