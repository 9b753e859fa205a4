"""Decompositions: QR, eigenvalues, singular values, products of reflections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import retrograd as torch
from retrograd import _C, Tensor
from retrograd._ops.out import castable, dtype_title, written
from retrograd._overridable import autocast

if TYPE_CHECKING:
    from retrograd._generated import return_types

_ops = _C._ops


@autocast("float32")
def qr(A: Tensor, mode: str = "reduced", *, out: Sequence[Tensor] | None = None) -> return_types.linalg_qr:
    """Q and R with A = Q R, Q unitary and R upper triangular."""
    return written(_ops.linalg_qr(A, mode), out)


@autocast("float32")
def eigh(A: Tensor, UPLO: str = "L", *, out: Sequence[Tensor] | None = None) -> return_types.linalg_eigh:
    """Eigenvalues, ascending, and eigenvectors of a symmetric or Hermitian matrix."""
    return written(_ops.linalg_eigh(A, UPLO), out)


@autocast("float32")
def eigvalsh(A: Tensor, UPLO: str = "L", *, out: Tensor | None = None) -> Tensor:
    """Eigenvalues of a symmetric or Hermitian matrix, ascending."""
    return written(_ops.linalg_eigvalsh(A, UPLO), out)


@autocast("float32")
def svd(
    A: Tensor, full_matrices: bool = True, *, driver: str | None = None, out: Sequence[Tensor] | None = None
) -> return_types.linalg_svd:
    """U, S and Vh with A = U diag(S) Vh."""
    return written(_ops.linalg_svd(A, full_matrices), out)


@autocast("float32")
def svdvals(A: Tensor, *, driver: str | None = None, out: Tensor | None = None) -> Tensor:
    """Singular values, descending."""
    return written(_ops.linalg_svdvals(A), out)


@autocast("float32")
def eig(A: Tensor, *, out: Sequence[Tensor] | None = None) -> return_types.linalg_eig:
    """Eigenvalues, in no order, and eigenvectors of length 1 of a square matrix; complex, also those of a real one."""
    return written(_ops.linalg_eig(A), out, None, cast=castable("torch.linalg.eig", "eigenvalues"))


@autocast("float32")
def eigvals(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Eigenvalues of a square matrix, in no order; complex, also those of a real one."""
    return written(_ops.linalg_eigvals(A), out, None, cast=castable("torch.linalg.eigvals", "eigenvalues"))


@autocast("float32")
def householder_product(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The first columns of the product of reflections I - tau_i v_i v_i^H, v_i below the diagonal of column i with a leading 1."""
    if input.dim() < 2:
        raise RuntimeError("torch.linalg.householder_product: input must have at least 2 dimensions.")
    m, n = input.shape[-2:]
    k = tau.size(-1)
    if m < n or n < k:
        raise RuntimeError(
            "torch.linalg.householder_product: input.shape[-2] must be greater than or equal to input.shape[-1] and input.shape[-1] "
            "to tau.shape[-1]"
        )
    if tau.dtype != input.dtype:
        raise RuntimeError(
            f"torch.linalg.householder_product: tau dtype {dtype_title(tau.dtype)} does not match input dtype {dtype_title(input.dtype)}"
        )
    v = input.tril(-1)[..., :k] + torch.eye(m, k, dtype=input.dtype, device=input.device)
    q = torch.eye(m, n, dtype=input.dtype, device=input.device).expand(*input.shape[:-2], m, n)
    if not k or not q.numel():  # the identity, with a history: derivatives of 0
        q = q + (v @ v.mH)[..., :n] * tau.sum(-1)[..., None, None]
    for i in reversed(range(k)):
        column = v[..., i : i + 1]
        q = q - tau[..., i : i + 1].unsqueeze(-1) * (column @ (column.mH @ q))
    by_columns = q.mT.clone(memory_format=torch.contiguous_format).mT  # as LAPACK's
    return written(by_columns, out, None, cast=castable("torch.linalg.householder_product"))


def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The product of other and the orthogonal matrix that geqrf() packed into input and tau, without making that matrix."""
    for name, t in (("input", input), ("other", other)):
        if t.dim() < 2:
            raise RuntimeError(f"torch.ormqr: {name} must have at least 2 dimensions.")
    side, rows, k = -2 if left else -1, input.size(-2), tau.size(-1) if tau.dim() else 0
    if other.size(side) < k:
        raise RuntimeError(f"torch.ormqr: other.shape[{side}] must be greater than or equal to tau.shape[-1]")
    if other.size(side) != rows:
        raise RuntimeError(f"torch.ormqr: other.shape[{side}] must be equal to input.shape[-2]")
    if k != min(other.size(side), input.size(-1)):
        raise RuntimeError(f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])")
    if input.dim() - tau.dim() != 1:
        raise RuntimeError(
            f"torch.ormqr: Expected tau to have one dimension less than input, but got tau.ndim equal to {tau.dim()} and input.ndim is "
            f"equal to {input.dim()}"
        )
    if input.dim() != other.dim():
        raise RuntimeError(
            f"torch.ormqr: Expected other to have the same number of dimensions as input, but got other.ndim equal to {other.dim()} and "
            f"input.ndim is equal to {input.dim()}"
        )
    for name, shape in (("tau", tau.shape[:-1]), ("other", other.shape[:-2])):
        if shape != input.shape[:-2]:
            raise RuntimeError(f"torch.ormqr: Expected batch dimensions of {name} to be equal to input.shape[:-2], but got {list(shape)}")
    for name, t in (("tau", tau), ("other", other)):
        if t.dtype != input.dtype:
            raise RuntimeError(
                f"torch.ormqr: Expected input and {name} to have the same dtype, but input has dtype {input.dtype} and {name} has dtype "
                f"{t.dtype}"
            )
    if not (input.is_floating_point() or input.is_complex()) or input.itemsize < 4:
        raise NotImplementedError(f"torch.ormqr: not implemented for {input.dtype}, expected float32, float64 or a complex dtype")
    # Q = H_1 ... H_k with H_i = I - tau_i v_i v_i^H. From the right, C Q = (Q^H C^H)^H.
    adjoint = transpose == left
    product = other if left else other.mH
    vectors = input.tril(-1)[..., :k] + torch.eye(rows, k, dtype=input.dtype, device=input.device)
    factors = tau.conj() if adjoint else tau
    for i in range(k) if adjoint else reversed(range(k)):
        v = vectors[..., i : i + 1]
        product = product - factors[..., i : i + 1].unsqueeze(-1) * (v @ (v.mH @ product))
    product = product if left else product.mH
    return written(product.mT.clone(memory_format=torch.contiguous_format).mT, out)
