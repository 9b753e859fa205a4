"""Decompositions: QR, eigenvalues, singular values, products of reflections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import retrograd as torch
from retrograd import _C, Tensor
from retrograd._ops.out import castable, written
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


def householder_product(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The first columns of the product of reflections I - tau_i v_i v_i^H, v_i below the diagonal of column i with a leading 1."""
    return torch.orgqr(input, tau, out=out)
