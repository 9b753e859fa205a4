"""Pseudo-inverse, rank, least squares: what stands on the size of singular values."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import NamedTuple

import retrograd as torch
from retrograd import _C, Tensor
from retrograd._batched import any_true
from retrograd._ops.linalg.decompose import eigvalsh, qr, svdvals
from retrograd._ops.linalg.norms import vector_norm
from retrograd._ops.linalg.systems import solve_triangular
from retrograd._ops.out import castable, dtype_title, written
from retrograd._overridable import autocast
from retrograd.return_types import _of


def _matrix(name: str, A: Tensor | None, input: Tensor | None) -> Tensor:
    """The matrix of a function that takes it by two names, one of them older."""
    if (A is None) == (input is None):
        raise TypeError(f"{name}() takes one matrix, as A or as input, and got {'none' if A is None else 'both'}")
    return A if input is None else input  # type: ignore[return-value]


def _number(value: Tensor | float | None) -> float | None:
    return float(value) if value is not None else None


def _tolerances(sizes: tuple[int, ...], **given: Tensor | float | None) -> dict[str, list[float | None]]:
    """A tolerance for each of the matrices of a batch: a tensor may have several."""
    for name, value in given.items():
        if isinstance(value, Tensor) and value.is_complex():
            raise RuntimeError(f"torch.linalg.pinv: {name} tensor of complex type is not supported. Got {dtype_title(value.dtype)}")
    return {
        name: [None] * torch.Size(sizes).numel() if value is None else torch.as_tensor(value).expand(sizes).flatten().tolist()
        for name, value in given.items()
    }


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
    several = [t for t in (atol, rtol) if isinstance(t, Tensor) and (t.dim() or t.is_complex())]
    if several and A.dim() >= 2:
        sizes = torch.broadcast_shapes(A.shape[:-2], *(t.shape for t in several))
        matrices = A.expand(*sizes, -1, -1).reshape(-1, *A.shape[-2:])
        limits = _tolerances(sizes, atol=atol, rtol=rtol)
        inverses = [
            _C._ops.linalg_pinv(matrix, atol=absolute, rtol=relative, hermitian=hermitian)
            for matrix, absolute, relative in zip(matrices, limits["atol"], limits["rtol"], strict=True)
        ]
        inverse = torch.stack(inverses) if inverses else A.new_empty(0, A.size(-1), A.size(-2))
        inverse = inverse.reshape(*sizes, A.size(-1), A.size(-2))
    else:
        inverse = _C._ops.linalg_pinv(A, atol=_number(atol), rtol=_number(rtol), hermitian=hermitian)
    return written(inverse, out, None, cast=castable("linalg.pinv"))


@autocast("float32")
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
        raise RuntimeError(f"linalg.matrix_rank: The input tensor input must have at least 2 dimensions. Got shape {list(A.shape)}.")
    for name, tolerance in (("atol", atol), ("rtol", rtol)) if atol is not None or rtol is not None else ():
        if isinstance(tolerance, torch.Tensor) and tolerance.is_complex():
            raise RuntimeError(
                f"torch.linalg.matrix_rank: {name} tensor of complex type is not supported. Got {dtype_title(tolerance.dtype)}"
            )
    with torch.no_grad() if A.requires_grad else nullcontext():
        values = eigvalsh(A).abs() if hermitian else svdvals(A)
        if values.numel() == 0:
            return written(torch.zeros(A.shape[:-2], dtype=torch.int64, device=A.device), out, None)
        if atol is rtol is None:
            return written((values > values.amax(-1, True) * (torch.finfo(A.dtype).eps * max(A.shape[-2:]))).sum(-1), out, None)
        absolute = 0.0 if atol is None else atol
        if rtol is None:
            no_atol = (absolute == 0).to(values.dtype) if isinstance(absolute, torch.Tensor) else float(absolute == 0)
            rtol = no_atol * torch.finfo(A.dtype).eps * max(A.shape[-2:])
        tolerance = torch.maximum(torch.as_tensor(absolute, dtype=values.dtype, device=values.device), values.amax(-1) * rtol)
        return written((values > tolerance.unsqueeze(-1)).sum(-1), out, None)


@_of("linalg_lstsq")
class _LstsqResult(NamedTuple):
    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


def _solved_by_qr(A: Tensor, right: Tensor, rtol: float, with_values: bool) -> tuple[Tensor | None, bool, Tensor | None]:
    """The solution where all matrices have full rank, whether that is so, and the singular values where these were asked for or needed.

    A triangle's norm and that of its inverse bound its singular values: mostly they need not be computed to know that none is too small.
    """
    m, n = A.shape[-2:]
    if min(m, n) == 0:
        return None, False, None
    Q, R = qr(A if m >= n else A.mH)
    triangle, values = R.detach(), None
    inverse = solve_triangular(triangle, torch.eye(min(m, n), dtype=A.dtype, device=A.device).expand_as(triangle), upper=True)
    if with_values or any_true(~(vector_norm(triangle, dim=(-2, -1)) * vector_norm(inverse, dim=(-2, -1)) < 0.5 / rtol)):
        values = svdvals(triangle)
        if any_true(~(values[..., -1] > values[..., 0] * rtol)):
            return None, False, values
    if m >= n:
        return solve_triangular(R, Q.mH @ right, upper=True), True, values
    return Q @ solve_triangular(R.mH, right, upper=False), True, values


@autocast("float32")
def lstsq(
    A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None, out: Sequence[Tensor] | None = None
) -> _LstsqResult:
    """The X that minimises |A X - B|, the smallest one where there are many.

    Residuals, rank and singular values come with it where the driver gives them.
    """
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError("torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    if A.dim() < 2:
        raise RuntimeError(f"torch.linalg.lstsq: input must have at least 2 dimensions. Got shape {list(A.shape)}.")
    if B.dim() < 1:
        raise RuntimeError(f"torch.linalg.lstsq: other must have at least 1 dimension. Got shape {list(B.shape)}.")
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
    none = torch.empty(0, dtype=A.dtype.to_real(), device=A.device)
    solution, full, values = _solved_by_qr(A, right, rtol, driver in ("gelsd", "gelss"))
    if solution is None:
        solution = pinv(A, rtol=rtol) @ right
    if driver == "gels":
        rank = torch.empty(0, dtype=torch.int64, device=A.device)
    else:
        rank = torch.full(A.shape[:-2], min(m, n), device=A.device) if full else matrix_rank(A, rtol=rtol)
    residuals = solution.abs().reshape(-1)[:0] if solution.requires_grad else none
    if m > n and driver != "gelsy" and (driver == "gels" or full or not any_true(rank != n)):
        residuals = (A @ solution - right).abs().square().sum(-2)
    if driver not in ("gelsd", "gelss"):
        values = none
    elif values is None:
        values = svdvals(A.detach())
    result = _LstsqResult(solution.squeeze(-1) if vector else solution, residuals, rank, values)
    return written(result, out, None, cast=castable("torch.linalg.lstsq", "solution"))
