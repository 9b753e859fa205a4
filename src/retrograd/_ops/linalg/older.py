"""The names that functions of torch.linalg had at the top of torch, with the arguments of that time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import retrograd as torch
from retrograd import _C, Tensor
from retrograd._ops.linalg import rank, systems
from retrograd._ops.out import castable, written
from retrograd.return_types import _of

if TYPE_CHECKING:
    pass

_ops = _C._ops


def logdet(input: Tensor) -> Tensor:
    """log(det(A)); nan where the determinant is a negative real number."""
    sign, value = _ops.linalg_slogdet(input)
    if input.is_complex():
        return sign.log() + value
    return torch.where(sign == -1, torch.full_like(value, math.nan), value)


def cholesky(input: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The L of A = L L^H, or the U of A = U^H U."""
    return written(systems.cholesky(input, upper=upper), out, None, cast=castable("cholesky"))


@_of("slogdet")
class _SlogdetResult(NamedTuple):
    sign: Tensor
    logabsdet: Tensor


def slogdet(input: Tensor, *, out: Sequence[Tensor] | None = None) -> _SlogdetResult:
    """Signs and logarithms of determinants."""
    return _SlogdetResult(*written(_ops.linalg_slogdet(input), out))


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """Packed LU factors, pivots and, when asked for, LAPACK's verdicts."""
    factors = _ops.linalg_lu_factor_ex(A) if pivot is True else _ops.linalg_lu_factor_ex(A, pivot=pivot)
    result = tuple(factors) if get_infos else factors[:2]
    return result if out is None else written(result, out, None)


def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The X of A X = b, given the LU factors of A."""
    return systems.lu_solve(LU_data, LU_pivots, b, out=out)


def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The Moore-Penrose inverse."""
    return rank.pinv(input, rtol=rcond)
