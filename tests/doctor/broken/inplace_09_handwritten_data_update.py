# code: inplace_corruption
import torch

torch.manual_seed(1)
w1 = torch.randn(2, 5, requires_grad=True)
w2 = torch.randn(5, 1, requires_grad=True)
x, y = torch.randn(9, 2), torch.randn(9, 1)
hidden = torch.relu(x @ w1)
pred = hidden @ w2  # ALSO
loss = (pred - y).pow(2).mean()
reg = pred.abs().mean()
loss.backward(retain_graph=True)
for w in (w1, w2):
    w.data -= 0.1 * w.grad  # LINE
    w.grad.zero_()
reg.backward()
