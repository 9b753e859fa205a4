# code: stale_optimizer, disconnected_parameter
import torch

torch.manual_seed(0)
X = torch.randn(40, 2)
y = (X @ torch.tensor([1.0, -2.0]) > 0).float()
w = torch.zeros(2, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
opt = torch.optim.SGD([w, b], lr=0.5)  # LINE
w = (torch.randn(2) * 0.1).requires_grad_()  # ALSO
b = torch.zeros(1, requires_grad=True)
for _ in range(20):
    loss = torch.nn.functional.binary_cross_entropy_with_logits(X @ w + b, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
