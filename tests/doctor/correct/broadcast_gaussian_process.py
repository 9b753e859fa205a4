import torch

length = torch.tensor(0.5, requires_grad=True)
noise = torch.tensor(0.1, requires_grad=True)
optimizer = torch.optim.Adam([length, noise], lr=0.05)
x = torch.linspace(0, 1, 10)
y = torch.sin(6 * x)
column = x.reshape(-1, 1)
for _ in range(5):
    distance = (column - x) ** 2
    kernel = torch.exp(-distance / (2 * length**2)) + noise**2 * torch.eye(10)
    chol = torch.linalg.cholesky(kernel)
    alpha = torch.cholesky_solve(y[:, None], chol)
    loss = 0.5 * (y[:, None] * alpha).sum() + chol.diagonal().log().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
