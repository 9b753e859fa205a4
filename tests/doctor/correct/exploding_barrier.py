import torch

alloc = torch.full((6,), 0.1, requires_grad=True)
opt = torch.optim.Adam([alloc], lr=0.02)
for k in range(120):
    over = torch.relu(alloc - 1.0)
    # A penalty that acts only beyond the limit.
    loss = -1e-4 * alloc.sum() + 1e2 * over.pow(2).sum() + 10 * over.sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
