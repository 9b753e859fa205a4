# code: non_scalar_backward
import torch
import torch.nn.functional as F

torch.manual_seed(0)
w = torch.randn(6, 3, requires_grad=True)
for step in range(4):
    logits = torch.randn(10, 6) @ w
    logp = F.log_softmax(logits, dim=1)
    target = torch.randint(0, 3, (10,))
    loss = -(logp * F.one_hot(target, 3)).sum(dim=1)  # ALSO
    loss.backward()  # LINE
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad = None
