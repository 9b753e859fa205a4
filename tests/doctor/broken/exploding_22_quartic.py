# code: exploding_gradient
import torch

torch.manual_seed(0)
w = torch.tensor([1.0, 1.0], requires_grad=True)
lr = 1.2
for i in range(8):
    loss = (w**4).sum()
    loss.backward()  # LINE
    with torch.no_grad():
        w -= lr * w.grad
    w.grad = None
    if loss > 1e25:
        break
