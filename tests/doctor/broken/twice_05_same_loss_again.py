# code: backward_twice
import torch

x = torch.randn(10, 2)
w = torch.randn(2, requires_grad=True)


def objective():
    return torch.log(torch.cosh(x @ w)).mean()  # ALSO


loss = objective()
loss.backward()
g1 = w.grad.clone()
loss.backward()  # LINE
