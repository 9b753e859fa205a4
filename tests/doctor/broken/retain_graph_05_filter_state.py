# code: retain_graph_leak
import torch

drift = torch.full((4,), 0.5, requires_grad=True)
state = torch.zeros(4)
for t in range(10):
    observation = torch.randn(4)
    state = torch.tanh(0.5 * state + drift + observation)  # ALSO
    loss = (state - 1).pow(2).mean()
    loss.backward(retain_graph=True)  # LINE
    with torch.no_grad():
        drift -= 0.01 * drift.grad
    drift.grad = None
