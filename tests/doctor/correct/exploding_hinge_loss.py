import torch

w = (torch.tensor([4.0, -4.0])).requires_grad_()
b = torch.zeros(1, requires_grad=True)
opt = torch.optim.SGD([w, b], lr=0.01)
for i in range(90):
    y = torch.where(torch.rand(32) > 0.5, 1.0, -1.0)
    x = torch.stack([y, -y], 1) * 2 + 0.1 * torch.randn(32, 2)
    if i % 30 == 29:
        x[0] = -x[0]  # one sample that was labelled wrongly
    margin = y * (x @ w + b)
    loss = torch.clamp(1 - margin, min=0).mean() + 1e-6 * w.pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
