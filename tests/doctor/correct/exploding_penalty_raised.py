import torch

x = torch.tensor([2.0, -1.0, 0.5], requires_grad=True)
multiplier, mu = 0.0, 1e-3
opt = torch.optim.Adam([x], lr=1e-2)
for outer in range(6):
    for inner in range(8):
        c = x.sum() - 1.0
        loss = 1e-4 * x.pow(2).sum() + multiplier * c + 0.5 * mu * c * c
        opt.zero_grad()
        loss.backward()
        opt.step()
    multiplier += mu * float(x.detach().sum() - 1.0)
    mu *= 10000 if outer == 2 else 10
