import torch

w = torch.randn(4, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.01)
for i in range(12):
    loss = (w - 1).pow(2).sum()
    loss.backward()
    opt.step()
    w.grad.mul_(0.9)
