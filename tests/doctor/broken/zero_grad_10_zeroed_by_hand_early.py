# code: missing_zero_grad
import torch

torch.manual_seed(0)
theta = torch.randn(4, requires_grad=True)
features = torch.randn(32, 4)
labels = (features.sum(1) > 0).float()
for epoch in range(5):
    logits = features @ theta
    loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, labels)
    loss.backward()
    theta.grad.zero_()  # ALSO
    with torch.no_grad():
        theta -= 0.5 * theta.grad  # LINE
