"""Norms of vectors and matrices, and the condition number."""

from __future__ import annotations

import math
from collections.abc import Sequence

import retrograd as torch
from retrograd import _C, Tensor
from retrograd._batched import any_true
from retrograd._ops.out import castable, dtype_title, written
from retrograd._overridable import autocast

_ops = _C._ops


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
    if ord == "fro" and out is dtype is None and dim == (-2, -1) and A.dim() >= 2:
        return _ops.linalg_vector_norm(A, 2, dim, keepdim)
    dims = A.dim()
    if dims < 2:
        raise RuntimeError(f"linalg.matrix_norm: The input tensor A must have at least 2 dimensions. Got shape {list(A.shape)}.")
    if len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    rows, columns = dim
    rows, columns = rows % dims if -dims <= rows < dims else rows, columns % dims if -dims <= columns < dims else columns
    if rows == columns:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    if dtype is not None:
        _check_norm_dtype("matrix_norm", A, dtype)
        A = A.to(dtype)
    if ord == "fro":
        return written(_ops.linalg_vector_norm(A, 2, (rows, columns), keepdim), out, _norm_words("matrix_norm"))
    if ord not in ("nuc", 1, -1, 2, -2, math.inf, -math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    if ord in ("nuc", 2, -2):
        values = _ops.linalg_svdvals(A if columns == rows + 1 == dims - 1 else A.movedim((rows, columns), (-2, -1)))
        result = values.sum(-1) if ord == "nuc" else _largest(values, -1) if ord == 2 else values.amin(-1)
        if keepdim:
            for d in sorted((rows, columns)):
                result = result.unsqueeze(d)
        return result if out is None else written(result, out, _norm_words("matrix_norm"))
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


@autocast("float32")
def cond(A: Tensor, p: float | str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The condition number: norm(A) * norm(inverse)."""
    if A.dim() < 2:
        raise RuntimeError(f"linalg.cond: The input tensor A must have at least 2 dimensions. Got shape {list(A.shape)}.")
    if A.numel() == 0 and (not isinstance(p, str) or A.size(-1) == A.size(-2)):
        return written(_ops.linalg_vector_norm(A, 2, (-2, -1), False), out, None, cast=castable("linalg.cond"))  # zeros
    if p in (None, 2, -2):
        values = _ops.linalg_svdvals(A)
        most, least = values.select(-1, 0), values.select(-1, -1)
        result = most / least if p != -2 else least / most
        return result if out is None else written(result, out, None, cast=castable("linalg.cond"))
    if A.size(-1) != A.size(-2):
        raise RuntimeError(f"linalg.cond: A must be batches of square matrices, but they are {A.size(-2)} by {A.size(-1)} matrices")
    inverse, info = _ops.linalg_inv_ex(A)
    singular = info != 0
    some = any_true(singular)
    if some:  # what the factorization left is no inverse, and need not have a norm
        inverse = inverse.masked_fill(singular[..., None, None], 0.0)
    size = matrix_norm(A, p)
    result = size * matrix_norm(inverse, p)
    if some and p == "nuc":
        return written(torch.where(singular, size * math.inf, result), out, None, cast=castable("linalg.cond"))
    unbounded = singular | result.isnan()  # a matrix with an infinity or a NaN is as singular as can be
    if any_true(unbounded):
        result = torch.where(unbounded, torch.full_like(result, math.inf), result)
    return written(result, out, None, cast=castable("linalg.cond"))
