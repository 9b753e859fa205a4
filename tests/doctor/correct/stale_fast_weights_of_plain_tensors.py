import torch
import torch.nn.functional as F

torch.manual_seed(0)
theta = [
    (torch.randn(8, 1) * 0.5).requires_grad_(),
    torch.zeros(8, requires_grad=True),
    (torch.randn(1, 8) * 0.3).requires_grad_(),
    torch.zeros(1, requires_grad=True),
]
opt = torch.optim.SGD(theta, lr=0.05)


def net(x, p):
    return F.linear(torch.tanh(F.linear(x, p[0], p[1])), p[2], p[3])


for it in range(12):
    opt.zero_grad()
    for task in range(2):
        fast = [p.detach().clone().requires_grad_() for p in theta]
        inner = torch.optim.SGD(fast, lr=0.1)
        for _ in range(3):
            x = torch.rand(6, 1)
            inner.zero_grad()
            F.mse_loss(net(x, fast), (task + 1) * x).backward()
            inner.step()
        inner.zero_grad()
        x = torch.rand(6, 1)
        F.mse_loss(net(x, fast), (task + 1) * x).backward()
        for p, f in zip(theta, fast):
            p.grad = f.grad / 2 if p.grad is None else p.grad + f.grad / 2
    opt.step()
