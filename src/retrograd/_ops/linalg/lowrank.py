"""Singular values of large matrices, from the range that products with random vectors show."""

from __future__ import annotations

from typing import Any

import retrograd as torch
from retrograd import Tensor


def _sizes(name: str, A: Any) -> tuple[int, int]:
    if not isinstance(A, torch.Tensor):
        raise TypeError(f"{name}(): argument 'A' must be Tensor, not {type(A).__name__}")
    if A.dim() < 2:
        raise ValueError(f"{name}(): A must have at least 2 dimensions, got {A.dim()}: not enough values to unpack into (m, n)")
    return A.size(-2), A.size(-1)


def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """U, S and V of about the q largest singular values of A, or of A - M; each of `niter` more passes over A makes them better."""
    m, n = _sizes("svd_lowrank", A)
    q = min(6 if q is None else q, m, n)
    niter = 2 if niter is None else niter
    if q < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {q}: svd_lowrank() expects q >= 0")
    if M is not None:
        A = A - M.expand(A.shape)
    if m < n:  # the shorter side is the one to find a basis of
        A = A.mH
    basis = torch.linalg.qr(A @ torch.randn(A.size(-1), q, dtype=A.dtype, device=A.device)).Q
    for _ in range(niter):
        basis = torch.linalg.qr(A.mH @ basis).Q
        basis = torch.linalg.qr(A @ basis).Q
    U, S, Vh = torch.linalg.svd(basis.mH @ A, full_matrices=False)
    U, V = basis @ U, Vh.mH
    return (V, S, U) if m < n else (U, S, V)


def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """Principal components of rows: svd_lowrank() of A, whose columns are centred unless told otherwise."""
    m, n = _sizes("pca_lowrank", A)
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if not niter >= 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)
