import torch
from torch.autograd import Function

torch.manual_seed(0)


class Spread(Function):
    """diag(X^T C X) for the symmetric C that it gets, X the solution of L X = B: backward relies on the one and looks at one triangle of the other."""

    @staticmethod
    def forward(ctx, factor, b, c):
        x = torch.linalg.solve_triangular(factor, b, upper=False)
        ctx.save_for_backward(factor, x, c)
        return (x * (c @ x)).sum(0)

    @staticmethod
    def backward(ctx, grad):
        factor, x, c = ctx.saved_tensors
        scaled = x * grad
        back = torch.linalg.solve_triangular(factor.mT, 2 * c @ scaled, upper=True)
        return -(back @ x.mT).tril(), back, x @ scaled.mT


points = torch.linspace(0, 1, 6)[:, None]
raw = (0.1 * torch.randn(6, 6)).requires_grad_()
scale = torch.tensor(0.3, requires_grad=True)
optimizer = torch.optim.Adam([raw, scale], lr=0.01)
for _ in range(5):
    covariance = torch.exp(-((points - points.mT) ** 2) / scale**2) + 1e-4 * torch.eye(6)
    factor = torch.linalg.cholesky(covariance)
    cross = torch.exp(-((points - torch.rand(1, 9)) ** 2) / scale**2)
    loss = Spread.apply(factor, cross, 1e-3 * (raw @ raw.mT)).square().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
