"""Systems of equations and the factors they are solved with: LU, Cholesky, LDL, triangles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from retrograd import _C, Tensor
from retrograd._ops.linalg.errors import NO_INVERSE, NOT_DEFINITE, SINGULAR, ZERO_BLOCK, ZERO_PIVOT, check_info
from retrograd._ops.out import castable, written
from retrograd._overridable import autocast
from retrograd.return_types import _of

if TYPE_CHECKING:
    from retrograd._generated import return_types

_ops = _C._ops
_Result = TypeVar("_Result", bound=tuple[Any, ...])

_FOUND = "expected scalar type {result} but found {out}"


def _reported(op: str, result: _Result, words: str, check_errors: bool) -> _Result:
    """The results of an op that ends with a verdict, which raises only where it is to be checked."""
    if check_errors:
        check_info(op, result[-1], words)
    return result


@autocast("float32")
def solve(A: Tensor, B: Tensor, *, left: bool = True, out: Tensor | None = None) -> Tensor:
    """The X of A X = B, or of X A = B."""
    return written(_ops.linalg_solve(A, B, left=left), out)


def solve_ex(
    A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False, out: Sequence[Tensor] | None = None
) -> return_types.linalg_solve_ex:
    """solve() that reports singular matrices in `info` instead of raising."""
    return written(_reported("torch.linalg.solve_ex", _ops.linalg_solve_ex(A, B, left=left), SINGULAR, check_errors), out)


@autocast("float32")
def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse."""
    return written(_ops.linalg_inv(A), out)


@autocast("float32")
def inv_ex(A: Tensor, *, check_errors: bool = False, out: Sequence[Tensor] | None = None) -> return_types.linalg_inv_ex:
    """inv() that reports singular matrices in `info` instead of raising."""
    return written(_reported("linalg.inv", _ops.linalg_inv_ex(A), NO_INVERSE, check_errors), out)


def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The determinant."""
    return written(_ops.linalg_det(A), out)


def slogdet(A: Tensor, *, out: Sequence[Tensor] | None = None) -> return_types.linalg_slogdet:
    """Sign and logarithm of the absolute value of the determinant."""
    return written(_ops.linalg_slogdet(A), out)


@_of("linalg_ldl_factor")
class _LdlResult(NamedTuple):
    LD: Tensor
    pivots: Tensor


def ldl_factor(A: Tensor, *, hermitian: bool = False, out: Sequence[Tensor] | None = None) -> _LdlResult:
    """L, the blocks of D and the pivots of A = L D L^T (L D L^H when hermitian), as LAPACK packs them. A need not be definite."""
    LD, pivots, info = _ops.linalg_ldl_factor_ex(A, hermitian=hermitian)
    check_info("torch.linalg.ldl_factor", info, ZERO_BLOCK)
    return written(_LdlResult(LD, pivots), out)


def ldl_factor_ex(
    A: Tensor, *, hermitian: bool = False, check_errors: bool = False, out: Sequence[Tensor] | None = None
) -> return_types.linalg_ldl_factor_ex:
    """ldl_factor() that reports singular matrices in `info` instead of raising."""
    result = _ops.linalg_ldl_factor_ex(A, hermitian=hermitian)
    return written(_reported("torch.linalg.ldl_factor_ex", result, ZERO_BLOCK, check_errors), out)


def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False, out: Tensor | None = None) -> Tensor:
    """The X of A X = B, given what ldl_factor() made of A."""
    return written(_ops.linalg_ldl_solve(LD, pivots, B, hermitian=hermitian), out)


def solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False, out: Tensor | None = None
) -> Tensor:
    """The X of A X = B (or X A = B) for triangular A."""
    return written(_ops.linalg_solve_triangular(A, B, upper=upper, left=left, unitriangular=unitriangular), out, _FOUND)


@autocast("float32")
def cholesky(A: Tensor, *, upper: bool = False, out: Tensor | None = None) -> Tensor:
    """The L of A = L L^H (upper: the U of A = U^H U) for a positive definite A."""
    return written(_ops.linalg_cholesky(A, upper=upper), out)


@autocast("float32")
def cholesky_ex(
    A: Tensor, *, upper: bool = False, check_errors: bool = False, out: Sequence[Tensor] | None = None
) -> return_types.linalg_cholesky_ex:
    """cholesky() that reports failures in `info` instead of raising."""
    return written(_reported("linalg.cholesky_ex", _ops.linalg_cholesky_ex(A, upper=upper), NOT_DEFINITE, check_errors), out)


def lu_factor(A: Tensor, *, pivot: bool = True, out: Sequence[Tensor] | None = None) -> return_types.linalg_lu_factor:
    """Packed LU factors and pivots."""
    return written(_ops.linalg_lu_factor(A, pivot=pivot), out)


def lu_factor_ex(
    A: Tensor, *, pivot: bool = True, check_errors: bool = False, out: Sequence[Tensor] | None = None
) -> return_types.linalg_lu_factor_ex:
    """lu_factor() that reports singular matrices in `info` instead of raising."""
    result = _ops.linalg_lu_factor_ex(A, pivot=pivot)
    return written(_reported("torch.linalg.lu_factor_ex", result, ZERO_PIVOT, check_errors), out)


def lu(A: Tensor, *, pivot: bool = True, out: Sequence[Tensor] | None = None) -> return_types.linalg_lu:
    """P, L and U with A = P L U."""
    return written(_ops.linalg_lu(A, pivot=pivot), out)


def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False, out: Tensor | None = None) -> Tensor:
    """solve() from what lu_factor() gave."""
    P, L, U = _ops.lu_unpack(LU, pivots)
    if not left:
        return written(lu_solve(LU, pivots, B.mH, adjoint=not adjoint).mH, out)
    if adjoint:  # U^H L^H P^T X = B
        y = solve_triangular(U.mH, B, upper=False)
        return written(P @ solve_triangular(L.mH, y, upper=True, unitriangular=True), out)
    y = solve_triangular(L, P.mT @ B, upper=False, unitriangular=True)
    return written(solve_triangular(U, y, upper=True), out)


@autocast("float32")
def tensorinv(A: Tensor, ind: int = 2, *, out: Tensor | None = None) -> Tensor:
    """The inverse of A as a map between tensors: of the dims from `ind` on to the ones before."""
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind'")
    before, after = A.shape[:ind], A.shape[ind:]
    if math.prod(before) != math.prod(after):
        raise RuntimeError(
            f"Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got {math.prod(after)} "
            f"!= {math.prod(before)}"
        )
    return written(inv(A.reshape(math.prod(before), math.prod(after))).reshape(*after, *before), out, None, cast=castable("tensorinv"))


@autocast("float32")
def tensorsolve(A: Tensor, B: Tensor, dims: Sequence[int] | None = None, *, out: Tensor | None = None) -> Tensor:
    """The X with tensordot(A, X, X.dim()) = B."""
    if dims is not None:
        A = A.movedim(tuple(dims), tuple(range(A.dim() - len(dims), A.dim())))
    result = A.shape[B.dim() :]
    if B.numel() != math.prod(result):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), got "
            f"{math.prod(result)} != {B.numel()}"
        )
    return written(solve(A.reshape(B.numel(), math.prod(result)), B.reshape(-1)).reshape(result), out, None, cast=castable("tensorsolve"))
