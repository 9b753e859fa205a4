# code: nan_origin
import torch


def softmax(z):
    e = torch.exp(z)  # LINE
    return e / e.sum(1, keepdim=True)


w = torch.randn(3, 4, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for i in range(3):
    x = torch.randn(5, 3) * 100 + 200
    p = softmax(x @ w)
    loss = -p[:, 0].clamp_min(1e-6).log().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
