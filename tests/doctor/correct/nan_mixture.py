import torch

w = torch.nn.Parameter(torch.randn(3))
mu = torch.nn.Parameter(torch.randn(3))
opt = torch.optim.Adam([w, mu], 0.1)
x = torch.randn(20)
mask = torch.zeros(20, 3)
mask[0, 1] = -torch.inf
for _ in range(5):
    logp = w.log_softmax(0) - 0.5 * (x[:, None] - mu) ** 2 + mask
    loss = -torch.logsumexp(logp, 1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
m = torch.full((3,), float("nan"))
m[0] = 1
torch.nanmean(m)
