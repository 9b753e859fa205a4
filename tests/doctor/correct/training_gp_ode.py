import torch

torch.manual_seed(0)
x = torch.linspace(0, 1, 15)
y = torch.sin(6 * x)
ls = torch.tensor(0.0, requires_grad=True)
amp = torch.tensor(0.0, requires_grad=True)
noise = torch.tensor(-2.0, requires_grad=True)
o = torch.optim.Adam([ls, amp, noise], 0.1)
for i in range(20):
    o.zero_grad()
    K = amp.exp() * torch.exp(-0.5 * (x[:, None] - x) ** 2 / ls.exp() ** 2) + noise.exp() * torch.eye(15)
    L = torch.linalg.cholesky(K)
    a = torch.cholesky_solve(y[:, None], L)
    (0.5 * (y @ a).sum() + L.diagonal().log().sum()).backward()
    o.step()
