# code: backward_twice
import torch


class GP:
    def __init__(self, x):
        self.log_scale = torch.zeros((), requires_grad=True)
        self.x = x
        self._k = None

    @property
    def kernel(self):
        if self._k is None:
            d = (self.x[:, None] - self.x[None]).pow(2)
            self._k = torch.exp(-d / self.log_scale.exp()) + 0.1 * torch.eye(len(self.x))  # ALSO
        return self._k

    def nll(self, y):
        chol = torch.linalg.cholesky(self.kernel)
        z = torch.linalg.solve_triangular(chol, y[:, None], upper=False)
        return 0.5 * z.pow(2).sum() + chol.diagonal().log().sum()


torch.manual_seed(0)
gp = GP(torch.linspace(0, 1, 12))
y = torch.sin(6 * gp.x)
opt = torch.optim.Adam([gp.log_scale], lr=0.05)
for _ in range(4):
    opt.zero_grad()
    gp.nll(y).backward()  # LINE
    opt.step()
