import torch

params = [torch.randn(3, 4, requires_grad=True), torch.zeros(4, requires_grad=True)]


def loss_of(x):
    return ((x @ params[0] + params[1]).tanh() - 0.5).square().mean()


for step in range(8):
    loss_of(torch.randn(8, 3)).backward()
    grads = [p.grad for p in params]
    with torch.no_grad():
        torch._foreach_add_(params, grads, alpha=-0.1)
        torch._foreach_zero_(grads)
