import torch

mu = torch.zeros(8, requires_grad=True)
log_s = torch.zeros(8, requires_grad=True)
opt = torch.optim.Adam([mu, log_s], lr=1e-3)
schedule = [1e-7] * 10 + [1e-3] * 10 + [1.0] * 10
for beta in schedule:
    z = mu + torch.randn(64, 8) * log_s.exp()
    loss = beta * ((z - 3).pow(2).mean() - log_s.mean())
    opt.zero_grad()
    loss.backward()
    opt.step()
