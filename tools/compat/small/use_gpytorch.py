"""An exact Gaussian process, then a variational one."""

import gpytorch
import torch

x = torch.linspace(0, 1, 40)
y = torch.sin(x * 6) + 0.1 * torch.randn(40)


class Exact(gpytorch.models.ExactGP):
    def __init__(self, likelihood):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


class Variational(gpytorch.models.ApproximateGP):
    def __init__(self):
        points = x[::5, None]
        distribution = gpytorch.variational.CholeskyVariationalDistribution(8)
        super().__init__(gpytorch.variational.VariationalStrategy(self, points, distribution))
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel(nu=2.5))

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


likelihood = gpytorch.likelihoods.GaussianLikelihood()
model = Exact(likelihood)
optimizer = torch.optim.Adam(model.parameters(), 0.1)
objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
for _ in range(15):
    optimizer.zero_grad()
    loss = -objective(model(x), y)
    loss.backward()
    optimizer.step()
model.eval()
likelihood.eval()
guess = likelihood(model(torch.linspace(0, 1, 7)))
(guess.mean.sum() + guess.variance.sum()).backward()

likelihood = gpytorch.likelihoods.GaussianLikelihood()
model = Variational()
optimizer = torch.optim.Adam([*model.parameters(), *likelihood.parameters()], 0.1)
objective = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=40)
for _ in range(15):
    optimizer.zero_grad()
    loss = -objective(model(x[:, None]), y)
    loss.backward()
    optimizer.step()
