"""torch.linalg: linear algebra over LAPACK, with derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import retrograd as torch
from retrograd import _C, Tensor
from retrograd._batched import whole
from retrograd._ops.linalg import multi_dot
from retrograd._ops.out import castable, dtype_title, written
from retrograd._overridable import all_overridable
from retrograd.return_types import _of

if TYPE_CHECKING:
    from retrograd._generated import return_types

_ops = _C._ops

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]


class LinAlgError(RuntimeError):
    """A matrix that a computation cannot go on with: singular, not positive definite, not converging."""


LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"
_LinAlgError = LinAlgError  # where pickle looks

_FOUND = "expected scalar type {result} but found {out}"

matmul = torch.matmul
matrix_power = torch.matrix_power


def _check_info(info: Tensor, text: Callable[[str, int], str]) -> None:
    """Raises for the first matrix of a batch with a nonzero verdict; `text` makes the message from it."""
    info = whole(info)
    if not info.any():
        return
    if info.dim() == 0:
        raise LinAlgError(text("", int(info)))
    first = int(info.reshape(-1).ne(0).nonzero()[0])
    raise LinAlgError(text(f"(Batch element {first}): ", int(info.reshape(-1)[first])))


def _not_definite(op: str, where: str, k: int) -> str:
    return (
        f"{op}: {where}The factorization could not be completed because the input is not positive-definite "
        f"(its leading minor of order {k} is not positive)."
    )


def _zero_pivot(op: str, where: str, k: int) -> str:
    return (
        f"{op}: {where}U[{k},{k}] is zero and using it on lu_solve would result in a division by zero. linalg.lu(A, pivot) and "
        "linalg.lu_factor_ex(A, pivot) return the factors all the same."
    )


# ---- systems ----


def solve(A: Tensor, B: Tensor, *, left: bool = True, out: Tensor | None = None) -> Tensor:
    """The X of A X = B, or of X A = B."""
    result, info = _ops.linalg_solve_ex(A, B, left=left)
    _check_info(info, lambda where, _: f"torch.linalg.solve: {where}The solver failed because the input matrix is singular.")
    return written(result, out)


def solve_ex(
    A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False, out: Sequence[Tensor] | None = None
) -> return_types.linalg_solve_ex:
    """solve() that reports singular matrices in `info` instead of raising."""
    both = _ops.linalg_solve_ex(A, B, left=left)
    if check_errors:
        _check_info(both[1], lambda where, _: f"torch.linalg.solve_ex: {where}The solver failed because the input matrix is singular.")
    return written(both, out)


def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse."""
    result, info = _ops.linalg_inv_ex(A)
    _check_info(
        info,
        lambda where, k: (
            f"linalg.inv: {where}The diagonal element {k} is zero, the inversion could not be completed because the input matrix is "
            f"singular."
        ),
    )
    return written(result, out)


def inv_ex(A: Tensor, *, check_errors: bool = False, out: Sequence[Tensor] | None = None) -> return_types.linalg_inv_ex:
    """inv() that reports singular matrices in `info` instead of raising."""
    both = _ops.linalg_inv_ex(A)
    if check_errors:
        _check_info(
            both[1],
            lambda where, k: (
                f"linalg.inv: {where}The diagonal element {k} is zero, the inversion could not be completed because the input "
                f"matrix is singular."
            ),
        )
    return written(both, out)


def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The determinant."""
    return written(_ops.linalg_det(A), out)


def slogdet(A: Tensor, *, out: Sequence[Tensor] | None = None) -> return_types.linalg_slogdet:
    """Sign and logarithm of the absolute value of the determinant."""
    return written(_ops.linalg_slogdet(A), out)


def _zero_block(op: str, where: str, k: int) -> str:
    return (
        f"{op}: {where}The factorization could not be completed: the block of D at {k} is zero, and solving with it would divide by zero."
    )


@_of("linalg_ldl_factor")
class _LdlResult(NamedTuple):
    LD: Tensor
    pivots: Tensor


def ldl_factor(A: Tensor, *, hermitian: bool = False, out: Sequence[Tensor] | None = None) -> _LdlResult:
    """L, the blocks of D and the pivots of A = L D L^T (L D L^H when hermitian), as LAPACK packs them. A need not be definite."""
    LD, pivots, info = _ops.linalg_ldl_factor_ex(A, hermitian=hermitian)
    _check_info(info, lambda where, k: _zero_block("torch.linalg.ldl_factor", where, k))
    return written(_LdlResult(LD, pivots), out)


def ldl_factor_ex(
    A: Tensor, *, hermitian: bool = False, check_errors: bool = False, out: Sequence[Tensor] | None = None
) -> torch.return_types.linalg_ldl_factor_ex:
    """ldl_factor() that reports singular matrices in `info` instead of raising."""
    result = _ops.linalg_ldl_factor_ex(A, hermitian=hermitian)
    if check_errors:
        _check_info(result[2], lambda where, k: _zero_block("torch.linalg.ldl_factor_ex", where, k))
    return written(result, out)


def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False, out: Tensor | None = None) -> Tensor:
    """The X of A X = B, given what ldl_factor() made of A."""
    return written(_ops.linalg_ldl_solve(LD, pivots, B, hermitian=hermitian), out)


def solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False, out: Tensor | None = None
) -> Tensor:
    """The X of A X = B (or X A = B) for triangular A."""
    return written(_ops.linalg_solve_triangular(A, B, upper=upper, left=left, unitriangular=unitriangular), out, _FOUND)


def cholesky(A: Tensor, *, upper: bool = False, out: Tensor | None = None) -> Tensor:
    """The L of A = L L^H (upper: the U of A = U^H U) for a positive definite A."""
    result, info = _ops.linalg_cholesky_ex(A, upper=upper)
    _check_info(info, lambda where, k: _not_definite("linalg.cholesky", where, k))
    return written(result, out)


def cholesky_ex(
    A: Tensor, *, upper: bool = False, check_errors: bool = False, out: Sequence[Tensor] | None = None
) -> return_types.linalg_cholesky_ex:
    """cholesky() that reports failures in `info` instead of raising."""
    both = _ops.linalg_cholesky_ex(A, upper=upper)
    if check_errors:
        _check_info(both[1], lambda where, k: _not_definite("linalg.cholesky_ex", where, k))
    return written(both, out)


@_of("linalg_lu_factor")
class _LuResult(NamedTuple):
    LU: Tensor
    pivots: Tensor


def lu_factor(A: Tensor, *, pivot: bool = True, out: Sequence[Tensor] | None = None) -> _LuResult:
    """Packed LU factors and pivots."""
    LU, pivots, info = _ops.linalg_lu_factor_ex(A, pivot=pivot)
    _check_info(info, lambda where, k: _zero_pivot("torch.linalg.lu_factor", where, k))
    return written(_LuResult(LU, pivots), out)


def lu_factor_ex(
    A: Tensor, *, pivot: bool = True, check_errors: bool = False, out: Sequence[Tensor] | None = None
) -> return_types.linalg_lu_factor_ex:
    """lu_factor() that reports singular matrices in `info` instead of raising."""
    result = _ops.linalg_lu_factor_ex(A, pivot=pivot)
    if check_errors:
        _check_info(result[2], lambda where, k: _zero_pivot("torch.linalg.lu_factor_ex", where, k))
    return written(result, out)


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


# ---- decompositions ----


def qr(A: Tensor, mode: str = "reduced", *, out: Sequence[Tensor] | None = None) -> return_types.linalg_qr:
    """Q and R with A = Q R, Q unitary and R upper triangular."""
    return written(_ops.linalg_qr(A, mode), out)


def _converging(function: Callable[..., Any], *args: Any) -> Any:
    try:
        return function(*args)
    except RuntimeError as error:
        if "failed to converge" in str(error):
            raise LinAlgError(str(error)) from None
        raise


def eigh(A: Tensor, UPLO: str = "L", *, out: Sequence[Tensor] | None = None) -> return_types.linalg_eigh:
    """Eigenvalues, ascending, and eigenvectors of a symmetric or Hermitian matrix."""
    return written(_converging(_ops.linalg_eigh, A, UPLO), out)


def eigvalsh(A: Tensor, UPLO: str = "L", *, out: Tensor | None = None) -> Tensor:
    """Eigenvalues of a symmetric or Hermitian matrix, ascending."""
    return written(_converging(_ops.linalg_eigvalsh, A, UPLO), out)


def svd(
    A: Tensor, full_matrices: bool = True, *, driver: str | None = None, out: Sequence[Tensor] | None = None
) -> return_types.linalg_svd:
    """U, S and Vh with A = U diag(S) Vh."""
    return written(_converging(_ops.linalg_svd, A, full_matrices), out)


def svdvals(A: Tensor, *, driver: str | None = None, out: Tensor | None = None) -> Tensor:
    """Singular values, descending."""
    return written(_converging(_ops.linalg_svdvals, A), out)


def eig(A: Tensor, *, out: Sequence[Tensor] | None = None) -> return_types.linalg_eig:
    """Eigenvalues, in no order, and eigenvectors of length 1 of a square matrix; complex, also those of a real one."""
    return written(_converging(_ops.linalg_eig, A), out, None, cast=castable("torch.linalg.eig", "eigenvalues"))


def eigvals(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Eigenvalues of a square matrix, in no order; complex, also those of a real one."""
    return written(_converging(_ops.linalg_eigvals, A), out, None, cast=castable("torch.linalg.eigvals", "eigenvalues"))


# ---- pseudo-inverse, rank, least squares ----


def _matrix(name: str, A: Tensor | None, input: Tensor | None) -> Tensor:
    """The matrix of a function that takes it by two names, one of them older."""
    if (A is None) == (input is None):
        raise TypeError(f"{name}() takes one matrix, as A or as input, and got {'none' if A is None else 'both'}")
    return A if input is None else input  # type: ignore[return-value]


def pinv(
    A: Tensor | None = None,
    rcond: Tensor | float | None = None,
    hermitian: bool = False,
    *,
    atol: Tensor | float | None = None,
    rtol: Tensor | float | None = None,
    out: Tensor | None = None,
    input: Tensor | None = None,
) -> Tensor:
    """The Moore-Penrose inverse; `rcond` is the older name of `rtol`, and `input` of A."""
    A = _matrix("pinv", A, input)
    if rcond is not None:
        if atol is not None or rtol is not None:
            raise TypeError("linalg.pinv(): rcond does not go together with atol= or rtol=")
        rtol = rcond
    atol, rtol = _number(atol), _number(rtol)
    inverse = _converging(lambda: _ops.linalg_pinv(A, atol=atol, rtol=rtol, hermitian=hermitian))
    return written(inverse, out, None, cast=castable("linalg.pinv"))


def _number(value: Tensor | float | None) -> float | None:
    return float(value) if value is not None else None


def matrix_rank(
    A: Tensor | None = None,
    tol: Tensor | float | None = None,
    hermitian: bool = False,
    *,
    atol: Tensor | float | None = None,
    rtol: Tensor | float | None = None,
    out: Tensor | None = None,
    input: Tensor | None = None,
) -> Tensor:
    """How many singular values exceed max(atol, rtol * largest); `tol` is `atol` of old, with an `rtol` of 0, and `input` is A."""
    A = _matrix("matrix_rank", A, input)
    if tol is not None:
        if atol is not None or rtol is not None:
            raise TypeError("linalg.matrix_rank(): tol does not go together with atol= or rtol=")
        atol, rtol = tol, 0.0
    if A.dim() < 2:
        raise RuntimeError("linalg.matrix_rank: The input tensor input must have at least 2 dimensions.")
    for name, tolerance in (("atol", atol), ("rtol", rtol)):
        if isinstance(tolerance, torch.Tensor) and tolerance.is_complex():
            raise RuntimeError(
                f"torch.linalg.matrix_rank: {name} tensor of complex type is not supported. Got {dtype_title(tolerance.dtype)}"
            )
    with torch.no_grad():
        values = eigvalsh(A).abs() if hermitian else svdvals(A)
        if values.numel() == 0:
            return written(torch.zeros(A.shape[:-2], dtype=torch.int64, device=A.device), out, None)
        absolute = 0.0 if atol is None else atol
        if rtol is None:
            no_atol = (absolute == 0).to(values.dtype) if isinstance(absolute, torch.Tensor) else float(absolute == 0)
            rtol = no_atol * torch.finfo(A.dtype).eps * max(A.shape[-2:])
        tolerance = torch.maximum(torch.as_tensor(absolute, dtype=values.dtype, device=values.device), values.amax(-1) * rtol)
        return written((values > tolerance.unsqueeze(-1)).sum(-1), out, None)


def lstsq(
    A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None, out: Sequence[Tensor] | None = None
) -> _LstsqResult:
    """The X that minimises |A X - B|, the smallest one where there are many.

    Residuals, rank and singular values come with it where the driver gives them.
    """
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError("torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    if A.dim() < 2:
        raise RuntimeError("torch.linalg.lstsq: input must have at least 2 dimensions.")
    if B.dim() < 1:
        raise RuntimeError("torch.linalg.lstsq: other must have at least 1 dimension.")
    vector = B.dim() == 1 or (A.dim() - 1 == B.dim() and A.shape[:-1] == B.shape)
    right = B.unsqueeze(-1) if vector else B
    if A.size(-2) != right.size(-2):
        name = "-1" if vector else "-2"
        raise RuntimeError(f"torch.linalg.lstsq: input.size(-2) should match other.size({name})")
    if A.dtype != B.dtype:
        raise RuntimeError(
            f"torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's dtype {A.dtype} and other's "
            f"dtype {B.dtype}"
        )
    if not (A.is_floating_point() or A.is_complex()):
        raise RuntimeError(f"torch.linalg.lstsq: Expected a floating point or complex tensor as input. Got {dtype_title(A.dtype)}")
    driver = driver or "gelsy"
    m, n = A.shape[-2:]
    rtol = rcond if rcond is not None else torch.finfo(A.dtype).eps * max(m, n)
    solution = pinv(A, rtol=rtol) @ right
    none = torch.empty(0, dtype=A.dtype.to_real(), device=A.device)
    rank = torch.empty(0, dtype=torch.int64, device=A.device) if driver == "gels" else matrix_rank(A, rtol=rtol)
    residuals = solution.abs().reshape(-1)[:0] if solution.requires_grad else none
    if m > n and driver != "gelsy" and (driver == "gels" or bool((rank == n).all())):
        residuals = (A @ solution - right).abs().square().sum(-2)
    values = svdvals(A.detach()) if driver in ("gelsd", "gelss") else none
    result = _LstsqResult(solution.squeeze(-1) if vector else solution, residuals, rank, values)
    return written(result, out, None, cast=castable("torch.linalg.lstsq", "solution"))


@_of("linalg_lstsq")
class _LstsqResult(NamedTuple):
    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


# ---- norms ----


def _check_norm_dtype(name: str, A: Tensor, dtype: _C.dtype | None) -> None:
    """The dtype a norm is computed in must hold the input's numbers."""
    if dtype is None or not (dtype.is_floating_point or dtype.is_complex):
        return
    if A.is_complex() != dtype.is_complex:
        kind = "complex" if A.is_complex() else "real"
        raise RuntimeError(f"linalg.{name}: dtype should be {kind} for {kind} inputs, but got {dtype_title(dtype)}")
    if torch.promote_types(A.dtype, dtype) != dtype:
        raise RuntimeError(
            f"linalg.{name}: the dtype of the input ({dtype_title(A.dtype)}) should be convertible without narrowing to the specified dtype "
            f"({dtype_title(dtype)})"
        )


def _norm_words(name: str) -> str:
    return f"linalg.{name} expected out tensor dtype {{result}} but got: {{out}}"


def vector_norm(
    x: Tensor,
    ord: float = 2,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: _C.dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The ord-norm of vectors, or of all elements."""
    return written(_ops.linalg_vector_norm(x, ord, dim, keepdim, dtype=dtype), out)


def _largest(sizes: Tensor, dim: int, keepdim: bool = False) -> Tensor:
    """The largest of numbers that are not negative; 0 of none."""
    return sizes.amax(dim, keepdim) if sizes.size(dim) else sizes.sum(dim, keepdim)


def matrix_norm(
    A: Tensor,
    ord: float | str = "fro",
    dim: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: _C.dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """A norm of matrices: 'fro', 'nuc', 1, -1, 2, -2, inf, -inf."""
    if A.dim() < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
    if len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    rows, columns = (d % A.dim() if -A.dim() <= d < A.dim() else d for d in dim)
    if rows == columns:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    _check_norm_dtype("matrix_norm", A, dtype)
    if dtype is not None:
        A = A.to(dtype)
    if ord == "fro":
        return written(_ops.linalg_vector_norm(A, 2, (rows, columns), keepdim), out, _norm_words("matrix_norm"))
    if ord not in ("nuc", 1, -1, 2, -2, math.inf, -math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    if ord in ("nuc", 2, -2):
        values = svdvals(A.movedim((rows, columns), (-2, -1)))
        result = values.sum(-1) if ord == "nuc" else _largest(values, -1) if ord == 2 else values.amin(-1)
        if keepdim:
            for d in sorted((rows, columns)):
                result = result.unsqueeze(d)
        return written(result, out, _norm_words("matrix_norm"))
    if ord in (math.inf, -math.inf):
        rows, columns = columns, rows
    sums = _ops.linalg_vector_norm(A, 1, (rows,), keepdim)
    if not keepdim and columns > rows:
        columns -= 1
    columns -= sums.dim()
    result = _largest(sums, columns, keepdim) if ord in (1, math.inf) else sums.amin(columns, keepdim)
    return written(result, out, _norm_words("matrix_norm"))


def norm(
    A: Tensor,
    ord: float | str | None = None,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    out: Tensor | None = None,
    dtype: _C.dtype | None = None,
) -> Tensor:
    """A vector norm, or of two dims a matrix norm."""
    if dim is not None and not isinstance(dim, Sequence):
        dim = (dim,)
    if dim is not None and len(dim) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}")
    if ord is None:
        return written(vector_norm(A, 2, dim, keepdim, dtype=dtype), out, _norm_words("norm"))
    if dim is None and A.dim() not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.dim()}D.")
    if isinstance(ord, str) or (dim is not None and len(dim) == 2) or (dim is None and A.dim() == 2):
        result = matrix_norm(A, ord, dim or ((-2, -1) if A.dim() != 2 else (0, 1)), keepdim, dtype=dtype)
    else:
        result = vector_norm(A, ord, dim, keepdim, dtype=dtype)
    return written(result, out, _norm_words("norm"))


def cond(A: Tensor, p: float | str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The condition number: norm(A) * norm(inverse)."""
    if A.dim() < 2:
        raise RuntimeError("linalg.cond: The input tensor A must have at least 2 dimensions.")
    if A.numel() == 0 and (not isinstance(p, str) or A.size(-1) == A.size(-2)):
        return written(_ops.linalg_vector_norm(A, 2, (-2, -1), False), out, None, cast=castable("linalg.cond"))  # zeros
    if p in (None, 2, -2):
        values = svdvals(A)
        return written(
            values[..., 0] / values[..., -1] if p != -2 else values[..., -1] / values[..., 0], out, None, cast=castable("linalg.cond")
        )
    if A.size(-1) != A.size(-2):
        raise RuntimeError(f"linalg.cond: A must be batches of square matrices, but they are {A.size(-2)} by {A.size(-1)} matrices")
    inverse, info = _ops.linalg_inv_ex(A)
    singular = info != 0
    some = bool(whole(singular).any())
    if some:  # what the factorization left is no inverse, and need not have a norm
        inverse = inverse.masked_fill(singular[..., None, None], 0.0)
    size = matrix_norm(A, p)
    result = size * matrix_norm(inverse, p)
    if some and p == "nuc":
        return written(torch.where(singular, size * math.inf, result), out, None, cast=castable("linalg.cond"))
    unbounded = singular | result.isnan()  # a matrix with an infinity or a NaN is as singular as can be
    if bool(whole(unbounded).any()):
        result = torch.where(unbounded, torch.full_like(result, math.inf), result)
    return written(result, out, None, cast=castable("linalg.cond"))


# ---- products and the rest ----


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """Sum of products along dim, x conjugated."""
    if x.dtype != y.dtype:
        raise RuntimeError(
            f"linalg.vecdot: Expected x and y to have the same dtype, but found x of type {dtype_title(x.dtype)} and y of type "
            f"{dtype_title(y.dtype)} instead"
        )
    if not (x.is_floating_point() or x.is_complex()):
        raise RuntimeError(f"linalg.vecdot: Expected a floating point or complex tensor as input. Got {dtype_title(x.dtype)}")
    return written((x.conj() * y).sum(dim), out, "linalg.vecdot: Expected out of dtype{result} but found {out}")


def cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """Vector product along dim."""
    return written(_ops.linalg_cross(input, other, dim=dim), out)


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of matrices."""
    return A.diagonal(offset, dim1, dim2)


def matrix_exp(A: Tensor) -> Tensor:
    """The exponential of square matrices: a Taylor polynomial of A / 2^s, squared s times."""
    if A.dim() < 2:
        raise RuntimeError("linalg.matrix_exp: The input tensor A must have at least 2 dimensions.")
    if A.size(-1) != A.size(-2):
        raise RuntimeError(f"linalg.matrix_exp: A must be batches of square matrices, but they are {A.size(-2)} by {A.size(-1)} matrices")
    if not (A.is_floating_point() or A.is_complex()):
        raise RuntimeError(f"linalg.matrix_exp: Expected a floating point or complex tensor as input. Got {dtype_title(A.dtype)}")
    if A.numel() == 0:
        return A.clone()
    with torch.no_grad():
        largest = float(whole(A).abs().sum(-1).amax())
    squarings = max(0, math.ceil(math.log2(largest)) + 3) if largest > 0 and math.isfinite(largest) else 0
    x = A * 2.0**-squarings  # norm at most 1/8: the term of degree 14 is below 1e-22
    eye = torch.eye(A.size(-1), dtype=A.dtype, device=A.device)
    # exp(x) - 1 is kept apart from 1, or squaring would lose digits of small matrices.
    rest = x
    for degree in range(14, 1, -1):
        rest = x + x @ rest / degree
    for _ in range(squarings):
        rest = 2 * rest + rest @ rest
    return (rest + eye).contiguous()


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


def vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """Powers 0 to N - 1 of each element."""
    x = x.reshape(1) if x.dim() == 0 else x
    N = x.size(-1) if N is None else N
    if N <= 1:
        raise RuntimeError("N must be greater than 1.")
    powers = x.unsqueeze(-1).expand(*x.shape, N - 1).cumprod(-1)
    return torch.cat([torch.ones((*x.shape, 1), dtype=powers.dtype, device=x.device), powers], -1)


# ---- names these had at the top of torch ----


def _logdet(input: Tensor) -> Tensor:
    """log(det(A)); nan where the determinant is a negative real number."""
    sign, value = _ops.linalg_slogdet(input)
    if input.is_complex():
        return sign.log() + value
    return torch.where(sign == -1, torch.full_like(value, math.nan), value)


def _cholesky(input: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The L of A = L L^H, or the U of A = U^H U."""
    return written(cholesky(input, upper=upper), out, None, cast=castable("cholesky"))


def _cholesky_solve(input: Tensor, L: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The X of A X = B, given the Cholesky factor of A."""
    for t, name in ((input, "b"), (L, "u")):
        if t.dim() < 2:
            raise RuntimeError(f"{name} should have at least 2 dimensions, but has {t.dim()} dimensions instead")
    if upper:
        L = L.mH
    return written(solve_triangular(L.mH, solve_triangular(L, input, upper=False), upper=True), out, None, cast=castable("cholesky_solve"))


def _cholesky_inverse(L: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The inverse of A, given its Cholesky factor."""
    if L.dim() < 2:
        raise RuntimeError("cholesky_inverse: The input tensor A must have at least 2 dimensions.")
    inverse = _cholesky_solve(torch.eye(L.size(-1), dtype=L.dtype, device=L.device).expand(L.shape), L, upper)
    return written(inverse, out, None, cast=castable("cholesky_inverse"))


def _triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False, *, out: Sequence[Tensor] | None = None
) -> _TriangularResult:
    """(solution of A X = b for triangular A, a copy of A)."""
    matrix = A.mT if transpose else A
    result = _TriangularResult(
        solve_triangular(matrix, b, upper=upper != transpose, unitriangular=unitriangular),
        A.mT.clone(memory_format=torch.contiguous_format).mT,
    )
    return written(result, out)


@_of("triangular_solve")
class _TriangularResult(NamedTuple):
    solution: Tensor
    cloned_coefficient: Tensor


def _qr(input: Tensor, some: bool = True, *, out: Sequence[Tensor] | None = None) -> return_types.linalg_qr:
    """Q and R; without `some`, a square Q."""
    return qr(input, "reduced" if some else "complete", out=out)


@_of("svd")
class _SvdResult(NamedTuple):
    U: Tensor
    S: Tensor
    V: Tensor


def _svd(input: Tensor, some: bool = True, compute_uv: bool = True, *, out: Sequence[Tensor] | None = None) -> _SvdResult:
    """U, S and V (not its adjoint)."""
    U, S, Vh = _converging(_ops._linalg_svd, input, not some, True)
    if not compute_uv:  # square, whatever `some` says
        (m, n), batch = input.shape[-2:], input.shape[:-2]
        return written(_SvdResult(U.new_zeros((*batch, m, m)), S, U.new_zeros((*batch, n, n))), out)
    return written(_SvdResult(U, S, Vh.mH), out)


def _lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """Packed LU factors, pivots and, when asked for, LAPACK's verdicts."""
    LU, pivots, info = _ops.linalg_lu_factor_ex(A, pivot=pivot)
    return written((LU, pivots, info) if get_infos else (LU, pivots), out, None)


def _lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The X of A X = b, given the LU factors of A."""
    return lu_solve(LU_data, LU_pivots, b, out=out)


def _orgqr(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The first columns of the product of reflections, as householder_product()."""
    return householder_product(input, tau, out=out)


def _pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The Moore-Penrose inverse."""
    return pinv(input, rtol=rcond)


all_overridable(globals(), __all__)


def __dir__() -> list[str]:
    return __all__
