"""Parametrizations of weights: unit norm and length apart, spectral norm one, orthogonal rows or columns."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

import retrograd as torch
from retrograd._C import Tensor
from retrograd.nn import functional as F
from retrograd.nn.modules.module import Module
from retrograd.nn.utils import parametrize
from retrograd.nn.utils.weight_norm import weight_normed

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def _named(module: Module, name: str) -> Tensor:
    found = getattr(module, name, None)
    if not isinstance(found, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return found


# -- weight norm --------------------------------------------------------------


class _WeightNorm(Module):
    """original1 / |original1| * original0"""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_normed(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return torch.norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Splits a weight into lengths (`original0`) and directions (`original1`).

    Args:
        dim: one length for each index of this dimension; a single one if None.
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def take_old_names(state_dict: Any, prefix: str, *rest: Any) -> None:
        old = [f"{prefix}{name}_{part}" for part in "gv"]
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{i}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(take_old_names)
    return module


# -- spectral norm ------------------------------------------------------------


class _SpectralNorm(Module):
    """weight / its largest singular value, which power iteration follows while training."""

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.dim = dim if dim >= 0 else dim + ndim
        self.eps = eps
        if ndim > 1:  # a vector is its own singular vector
            self.n_power_iterations = n_power_iterations
            matrix = self._matrix(weight.detach())
            rows, columns = matrix.shape
            u, v = matrix.new_empty(rows).normal_(0, 1), matrix.new_empty(columns).normal_(0, 1)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
            self._iterate(matrix, 15)

    def _matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1)

    @torch.no_grad()
    def _iterate(self, matrix: Tensor, times: int) -> None:
        for _ in range(times):
            self._u.copy_(F.normalize(torch.mv(matrix, self._v), dim=0, eps=self.eps))
            self._v.copy_(F.normalize(torch.mv(matrix.H, self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        # Copies: the next call writes the buffers, and what this one computes may still be differentiated then.
        u, v = self._u.clone(), self._v.clone()
        return weight / torch.vdot(u, torch.mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value  # a weight of any norm will do


def _output_dim(module: Module) -> int:
    """The dimension of a layer's weight that runs over its outputs."""
    return 1 if type(module).__name__.startswith("ConvTranspose") or getattr(module, "transposed", False) else 0


def spectral_norm(module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None) -> Module:
    """Divides a weight by its largest singular value.

    Args:
        n_power_iterations: how many steps of power iteration each read in training mode makes.
        eps: keeps norms from zero.
        dim: the dimension that counts as rows; that of the outputs if None.
    """
    weight = _named(module, name)
    dim = _output_dim(module) if dim is None else dim
    return parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))


# -- orthogonal ---------------------------------------------------------------


class _OrthMaps(Enum):
    matrix_exp = auto()
    cayley = auto()
    householder = auto()


def _is_orthogonal(Q: Tensor, eps: float | None = None) -> bool:
    n, k = Q.shape[-2:]
    identity = torch.eye(k, dtype=Q.dtype, device=Q.device)
    eps = 10.0 * n * torch.finfo(Q.dtype).eps if eps is None else eps
    return torch.allclose(Q.mH @ Q, identity, atol=eps)


def _make_orthogonal(A: Tensor) -> Tensor:
    """The orthogonal factor of A whose triangular one has a positive diagonal, so that an A that is orthogonal stays what it is."""
    packed, tau = torch.geqrf(A)
    return torch.linalg.householder_product(packed, tau) * packed.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _Orthogonal(Module):
    """An orthogonal matrix from the numbers below a diagonal, times a fixed one (`base`) with use_trivialization."""

    base: Tensor

    def __init__(self, weight: Tensor, orthogonal_map: _OrthMaps, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == _OrthMaps.householder:
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        wide = X.size(-2) < X.size(-1)
        if wide:
            X = X.mT
        n, k = X.shape[-2:]
        if self.orthogonal_map == _OrthMaps.householder:
            below = X.tril(diagonal=-1)
            tau = 2.0 / (1.0 + (below * below).sum(dim=-2))
            Q = torch.linalg.householder_product(below, tau) * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            A = X.tril()
            if n != k:
                A = torch.cat([A, A.new_zeros(n, n - k).expand(*A.shape[:-2], -1, -1)], dim=-1)
            A = A - A.mH
            if self.orthogonal_map == _OrthMaps.matrix_exp:
                Q = torch.matrix_exp(A)
            else:  # (I - A / 2)^-1 (I + A / 2)
                identity = torch.eye(n, dtype=A.dtype, device=A.device)
                Q = torch.linalg.solve(torch.add(identity, A, alpha=-0.5), torch.add(identity, A, alpha=0.5))
            Q = Q[..., :k] if n != k else Q
        if hasattr(self, "base"):
            Q = self.base @ Q
        return Q.mT if wide else Q

    @torch.no_grad()
    def right_inverse(self, Q: Tensor) -> Tensor:
        if Q.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}.")
        given = Q
        wide = Q.size(-2) < Q.size(-1)
        if wide:
            Q = Q.mT
        n, k = Q.shape[-2:]
        if hasattr(self, "base"):
            if n != k:  # filled up to a square
                Q = torch.cat([Q, torch.randn(*Q.shape[:-2], n, n - k, dtype=Q.dtype, device=Q.device)], dim=-1)
            self.base = _make_orthogonal(Q)
            # minus the identity: every map takes it to the identity, and has a derivative there
            started = torch.zeros_like(given)
            started.diagonal(dim1=-2, dim2=-1).fill_(-1)
            return started
        if self.orthogonal_map != _OrthMaps.householder:
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations when use_trivialization=False."
            )
        packed, tau = torch.geqrf(Q)
        diagonal = packed.diagonal(dim1=-2, dim2=-1)
        signs = torch.where(diagonal == 0, 1.0, diagonal.sign())
        # A factor of zero is a reflection left out, as the last one of a square matrix is; forward() does not leave it out.
        diagonal.copy_(torch.where(tau == 0, -signs, signs))
        return packed.mT if wide else packed


def orthogonal(module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True) -> Module:
    """Keeps a weight orthogonal: its columns, or its rows where it is wider than tall; unitary if it is complex.

    Args:
        orthogonal_map: "matrix_exp", "cayley" or "householder"; by default the first for square and complex matrices and the last for others.
        use_trivialization: multiply by a fixed orthogonal matrix, so that training starts where the map is well behaved.
    """
    weight = _named(module, name)
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.size(-2) == weight.size(-1) or weight.is_complex() else "householder"
    chosen = getattr(_OrthMaps, orthogonal_map, None)
    if chosen is None:
        raise ValueError(f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}')
    made = _Orthogonal(weight, chosen, use_trivialization=use_trivialization)
    return parametrize.register_parametrization(module, name, made, unsafe=True)
