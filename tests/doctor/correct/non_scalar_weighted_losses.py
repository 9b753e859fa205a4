import torch

w = torch.randn(3, requires_grad=True)
weights = torch.tensor([0.2, 0.8])
for _ in range(4):
    losses = torch.stack([(w - 1).pow(2).mean(), w.abs().mean()])
    losses.backward(weights)
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad.zero_()
