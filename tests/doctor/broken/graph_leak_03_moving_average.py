# code: graph_leak
import torch

w = torch.randn(3, requires_grad=True)
average = torch.zeros(())
for i in range(20):
    x = torch.randn(16, 3)
    loss = ((x @ w - x.sum(1)) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.05 * w.grad
    w.grad.zero_()
    average = 0.9 * average + 0.1 * loss  # LINE, ALSO
    if i % 10 == 0:
        print(i, float(average))
