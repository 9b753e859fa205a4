"""Reductions and normalisations of the elements that a mask selects: those it leaves out count as if they were not there.

A mask is true where an element counts, and broadcasts to the input. Where it leaves nothing, a reduction gives what it gives for no elements: 0 for a
sum, 1 for a product, the lowest number for a maximum, NaN for a mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import retrograd as torch
from retrograd._C import Tensor

__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp", "mean", "median", "norm", "normalize",
    "prod", "softmax", "softmin", "std", "sum", "var",
]  # fmt: skip

Dims = int | Sequence[int] | None


def _mask_of(input: Tensor, mask: Tensor | None) -> Tensor | None:
    """The mask at the size of the input."""
    if mask is None:
        return None
    if not isinstance(mask, Tensor):
        raise TypeError(f"expected the mask to be a Tensor, got {type(mask).__name__}")
    if mask.dim() > input.dim():
        raise IndexError("_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)")
    return (mask if mask.dtype == torch.bool else mask != 0).expand(input.shape)


def _filled(input: Tensor, mask: Tensor | None, value: Any) -> Tensor:
    """The input with `value` where it does not count."""
    selected = _mask_of(input, mask)
    return input if selected is None else torch.where(selected, input, torch.tensor(value, dtype=input.dtype, device=input.device))


def _dims(input: Tensor, dim: Dims) -> tuple[int, ...]:
    """The dimensions to reduce, each once: all of them for None and for none."""
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return tuple(range(input.dim()))
    given = (dim,) if isinstance(dim, int) else tuple(dim)
    found = []
    for d in given:
        if not -max(input.dim(), 1) <= d < max(input.dim(), 1):
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-max(input.dim(), 1)}, {max(input.dim(), 1) - 1}], but got {d})"
            )
        d %= max(input.dim(), 1)
        if d in found:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        found.append(d)
    return tuple(sorted(found))


def _summed_dtype(input: Tensor, dtype: Any) -> Any:
    if dtype is not None:
        return dtype
    return input.dtype if input.is_floating_point() or input.is_complex() else torch.int64


def _as(input: Tensor, dtype: Any) -> Tensor:
    return input if dtype is None or input.dtype == dtype else input.to(dtype)


def _lowest(dtype: Any) -> Any:
    return -torch.inf if dtype.is_floating_point else False if dtype == torch.bool else torch.iinfo(dtype).min


def _highest(dtype: Any) -> Any:
    return torch.inf if dtype.is_floating_point else True if dtype == torch.bool else torch.iinfo(dtype).max


def _floating(name: str, input: Tensor, dtype: Any) -> Any:
    """The dtype of a result that is no integer."""
    dtype = input.dtype if dtype is None else dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(
            f"{name}(): Could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: {dtype}"
        )
    return dtype


# -- reductions ---------------------------------------------------------------


def sum(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The sum of the elements that count."""
    dtype = _summed_dtype(input, dtype)
    dims = _dims(input, dim)
    return torch.sum(_filled(_as(input, dtype), mask, 0), dims, keepdim=keepdim, dtype=dtype)


def prod(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The product of the elements that count."""
    dtype = _summed_dtype(input, dtype)
    result = _filled(_as(input, dtype), mask, 1)
    for d in reversed(_dims(input, dim)):
        result = result.prod(d, keepdim=keepdim) if input.dim() else result.prod()
    return _as(result, dtype)


def _extremum(
    op: Callable[..., Tensor], limit: Callable[[Any], Any], input: Tensor, dim: Any, keepdim: bool, dtype: Any, mask: Tensor | None
) -> Tensor:
    input = _as(input, dtype)
    return op(_filled(input, mask, limit(input.dtype)), dim, keepdim=keepdim).to(input.dtype)


def amax(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The largest of the elements that count."""
    return _extremum(torch.amax, _lowest, input, _dims(input, dim), keepdim, dtype, mask)


def amin(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The smallest of the elements that count."""
    return _extremum(torch.amin, _highest, input, _dims(input, dim), keepdim, dtype, mask)


def argmax(input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Where the largest of the elements that count is; in the dtype of the input, as PyTorch has it."""
    return _extremum(torch.argmax, _lowest, input, dim, keepdim, dtype, mask)


def argmin(input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Where the smallest of the elements that count is; in the dtype of the input, as PyTorch has it."""
    return _extremum(torch.argmin, _highest, input, dim, keepdim, dtype, mask)


def logsumexp(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The logarithm of the sum of the exponentials of the elements that count."""
    dtype = _floating("logsumexp", input, dtype)
    return torch.logsumexp(_filled(_as(input, dtype), mask, -torch.inf), _dims(input, dim), keepdim=keepdim)


def _count(input: Tensor, dims: tuple[int, ...], mask: Tensor | None, dtype: Any) -> Tensor:
    """How many elements count, with the dimensions kept."""
    selected = _mask_of(input, mask)
    ones = torch.ones(input.shape, dtype=torch.bool, device=input.device) if selected is None else selected
    return ones.sum(dims, keepdim=True, dtype=dtype)


def mean(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The mean of the elements that count."""
    dtype, dims = _floating("mean", input, dtype), _dims(input, dim)
    result = sum(input, dims, keepdim=True, dtype=dtype, mask=mask) / _count(input, dims, mask, dtype)
    return result if keepdim or not dims else result.squeeze(dims)


def var(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The variance of the elements that count; their number less `correction` (1) divides."""
    if unbiased is not None and correction is not None:
        raise RuntimeError("Only one of unbiased and correction may be given")
    less = (1.0 if unbiased is None or unbiased else 0.0) if correction is None else correction
    if dtype is None:
        dtype = input.dtype if input.is_floating_point() or input.is_complex() else torch.float32
    dims = _dims(input, dim)
    centered = _as(input, dtype) - mean(input, dims, keepdim=True, dtype=dtype, mask=mask)
    squares = centered.abs().square() if dtype.is_complex else centered * centered
    squared = sum(squares, dims, keepdim=True, mask=mask)
    count = (_count(input, dims, mask, squared.dtype) - less).clamp_min(0)
    result = squared / count
    return result if keepdim or not dims else result.squeeze(dims)


def std(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The standard deviation of the elements that count."""
    return var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask).sqrt()


def norm(
    input: Tensor, ord: Any = 2.0, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The norm of the elements that count, taken as a vector."""
    input = _as(input, dtype)
    fill = torch.inf if ord == -torch.inf else 0
    return torch.linalg.vector_norm(_filled(input, mask, fill), ord, _dims(input, dim), keepdim=keepdim)


def median(input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The median of the elements that count: the lower one of two."""
    if mask is None:
        return torch.nanmedian(input, dim, keepdim=keepdim).values
    selected = _mask_of(input, mask)
    if input.is_floating_point():
        return torch.nanmedian(_filled(input, mask, torch.nan), dim, keepdim=keepdim).values
    if selected is not None and not selected.any(dim).all():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return torch.nanmedian(_filled(input.double(), mask, torch.nan), dim, keepdim=keepdim).values.to(input.dtype)


# -- along a dimension --------------------------------------------------------


def cumsum(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The running sum of the elements that count."""
    return torch.cumsum(_filled(_as(input, dtype), mask, 0), dim, dtype=dtype)


def cumprod(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The running product of the elements that count."""
    return torch.cumprod(_filled(_as(input, dtype), mask, 1), dim, dtype=dtype)


def _scores(input: Tensor, dtype: Any, mask: Tensor | None, value: float) -> Tensor:
    input = _as(input, dtype)
    return _filled(input, mask, value) if input.is_floating_point() else input  # which the softmaxes refuse


def softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The softmax of the elements that count, and 0 for the others."""
    return torch.softmax(_scores(input, dtype, mask, -torch.inf), dim)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The logarithm of the softmax of the elements that count, and -inf for the others."""
    return torch.log_softmax(_scores(input, dtype, mask, -torch.inf), dim)


def softmin(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The softmax of the negated elements that count, and 0 for the others."""
    return torch.softmax(-_scores(input, dtype, mask, torch.inf), dim)


def normalize(input: Tensor, ord: float, dim: Dims, *, eps: float = 1e-12, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The elements that count divided by their norm, which is at least eps, and 0 for the others."""
    input = _as(input, dtype)
    lengths = norm(input, ord, dim, keepdim=True, mask=mask)
    return _filled(input, mask, 0) / lengths.clamp_min(eps)


def logaddexp(
    input: Tensor, other: Tensor, *, dtype: Any = None, input_mask: Tensor | None = None, other_mask: Tensor | None = None
) -> Tensor:
    """log(exp(input) + exp(other)), where what a mask leaves out adds nothing."""
    first, second = (_filled(_as(t, dtype), m, -torch.inf) for t, m in ((input, input_mask), (other, other_mask)))
    return torch.logaddexp(first, second)
