# code: retain_graph_leak, graph_leak
import torch

w = torch.randn(4, 1, requires_grad=True)
for i in range(10):
    loss = (torch.randn(5, 4) @ w).pow(2).mean()
    loss.backward(create_graph=True)  # LINE
    with torch.no_grad():
        w -= 0.01 * w.grad
    w.grad.data.zero_()
