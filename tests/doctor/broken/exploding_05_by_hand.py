# code: exploding_gradient
import torch

torch.manual_seed(0)
a = torch.tensor(1.0, requires_grad=True)
b = torch.tensor(0.5, requires_grad=True)
times = [torch.linspace(0, 1, 10)] * 12 + [torch.linspace(0, 40, 10)] + [torch.linspace(0, 1, 10)] * 2
for t in times:
    model = a * torch.exp(b * t)
    loss = (model - 1).abs().mean()
    loss.backward()  # LINE
    with torch.no_grad():
        a -= 1e-3 * a.grad
        b -= 1e-3 * b.grad
        a.grad.zero_()
        b.grad.zero_()
