"""Differentiable roots, eigenpairs, linear solves and interpolation."""

import torch
import xitorch
from xitorch.interpolate import Interp1D
from xitorch.linalg import solve, symeig
from xitorch.optimize import rootfinder

torch.set_default_dtype(torch.float64)
a = torch.rand(3, 3).requires_grad_()
y0 = torch.zeros(3, 1)
for _ in range(3):
    root = rootfinder(lambda y, a: torch.tanh(a @ y + 0.1) + y / 2, y0, params=(a,))
    root.sum().backward()
matrix = torch.rand(6, 6)
matrix = (matrix + matrix.T + 6 * torch.eye(6)).requires_grad_()
values, vectors = symeig(xitorch.LinearOperator.m(matrix, is_hermitian=True), neig=2, method="exacteig")
(values.sum() + vectors.square().sum()).backward()
answer = solve(xitorch.LinearOperator.m(matrix, is_hermitian=True), torch.ones(6, 1))
answer.square().sum().backward()
x = torch.linspace(0, 1, 8)
heights = torch.sin(x * 3).requires_grad_()
Interp1D(x, heights, method="cspline")(torch.linspace(0.05, 0.95, 5)).sum().backward()
