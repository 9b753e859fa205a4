"""Reductions written in other ops: quantiles, distinct elements, covariance, finite differences, integrals, distances."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import retrograd as torch
from retrograd import _C, Tensor
from retrograd._batched import any_true
from retrograd._ops.out import written


def _wrap(dim: int, ndim: int) -> int:
    n = max(ndim, 1)
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim % n


# ---- quantiles ----

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


_QUANTILE = "quantile() out tensor must be same dtype as the input tensor"


def _check_quantile(input: Any, q: Any, interpolation: str) -> Any:
    if input.numel() == 0:
        raise RuntimeError(f"quantile() input tensor must be non-empty, got shape {list(input.shape)}")
    if input.dtype not in (torch.float32, torch.float64):
        raise RuntimeError(f"quantile() input tensor must be either float or double dtype, got {input.dtype}: convert it with .float()")
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(f"quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}")
    if not isinstance(q, torch.Tensor):
        if not 0 <= q <= 1:
            raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
        return torch.tensor(q, dtype=input.dtype, device=input.device)
    if q.ndim > 1:
        raise RuntimeError(f"quantile() q must be a scalar or 1D tensor, got shape {list(q.shape)}")
    if q.dtype != input.dtype:
        raise RuntimeError(f"quantile() q tensor must be same dtype as the input tensor, got {q.dtype} and {input.dtype}")
    if any_true(q.lt(0).logical_or(q.gt(1))):
        raise RuntimeError("quantile() q values must be in the range [0, 1]")
    return q


def _quantile(input: Any, q: Any, dim: int | None, keepdim: bool, interpolation: str, ignore_nan: bool) -> Any:
    q = _check_quantile(input, q, interpolation)
    if dim is None:
        rows = input.reshape(-1)
        kept = [1] * input.ndim
    else:
        dim = _wrap(dim, input.ndim)
        rows = input.movedim(dim, -1) if input.ndim else input.reshape(1)
        kept = [1 if d == dim else n for d, n in enumerate(input.shape)]
    ordered = rows.sort(-1).values
    nan = ordered.detach().isnan()
    n = rows.shape[-1]
    # The place of each quantile among the sorted elements, [..., number of quantiles]. NaN is sorted last: a row with one gives it.
    if ignore_nan:
        places = (q.reshape(-1) * (n - 1 - nan.sum(-1, keepdim=True))).clamp_min(0)
    else:
        places = torch.where(nan.any(-1, keepdim=True), n - 1.0, (q * (n - 1)).reshape(-1)).to(input.dtype)
    if interpolation == "nearest":
        places = places.round()
    below = places.floor() if interpolation != "higher" else places.ceil()
    result = ordered.gather(-1, below.to(torch.int64))
    if interpolation in ("linear", "midpoint"):
        above = ordered.gather(-1, places.ceil().to(torch.int64))
        weight = places - below if interpolation == "linear" else torch.full_like(places, 0.5)
        result = torch.lerp(result, above, weight)
    result = result.squeeze(-1) if q.ndim == 0 else result.movedim(-1, 0)
    if keepdim:
        result = result.reshape([*q.shape, *kept])
    return result


def quantile(
    input: Tensor,
    q: Tensor | float,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Tensor | None = None,
) -> Tensor:
    """The q-th quantiles of all elements, or along a dim; `interpolation` says what lies between two elements."""
    return written(_quantile(input, q, dim, keepdim, interpolation, False), out, _QUANTILE)


def nanquantile(
    input: Tensor,
    q: Tensor | float,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Tensor | None = None,
) -> Tensor:
    """As quantile, leaving out NaN."""
    return written(_quantile(input, q, dim, keepdim, interpolation, True), out, _QUANTILE)


def nanmean(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: _C.dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Mean over dims that leaves out NaN."""
    if not input.is_floating_point():
        raise RuntimeError(f"nanmean(): expected input to have floating point or complex dtype but got {input.dtype._title}")
    count = input.detach().isnan().logical_not().sum(dim, keepdim)
    return written(torch.nansum(input, dim, keepdim, dtype=dtype) / count, out, None)


# ---- distinct elements ----


def _chosen(found: tuple[Any, Any, Any], return_inverse: bool, return_counts: bool) -> Any:
    values, inverse, counts = found
    if return_inverse and return_counts:
        return values, inverse, counts
    if return_inverse:
        return values, inverse
    return (values, counts) if return_counts else values


def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Any:
    """Distinct elements, sorted, or distinct slices along a dim; optionally the place of each element among them and their counts."""
    if dim is None:
        found = torch._unique2(input, sorted, return_inverse, return_counts)
    else:
        found = torch._unique_dim(input, dim, sorted, return_inverse, return_counts)
    return _chosen(found, return_inverse, return_counts)


def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Any:
    """Elements (or slices along a dim) without repetitions of the one before; optionally places and counts."""
    return _chosen(torch._unique_consecutive(input, return_inverse, return_counts, dim), return_inverse, return_counts)


# ---- covariance ----


def _check_weights(name: str, weights: Any, observations: int, integral: bool) -> None:
    if weights.ndim > 1:
        raise RuntimeError(f"cov(): expected {name} to have one or fewer dimensions but got {name} with {weights.ndim} dimensions")
    if weights.is_floating_point() == integral or weights.dtype == torch.bool:
        kind = "integral" if integral else "floating point"
        raise RuntimeError(f"cov(): expected {name} to have {kind} dtype but got {name} with {weights.dtype._title} dtype")
    if weights.numel() != observations:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input "
            f"but got {weights.numel()} != {observations}"
        )
    if any_true(weights < 0):
        raise RuntimeError(f"cov(): {name} cannot be negative")


def cov(input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
    """Covariance matrix of variables in rows, with frequency weights and importance weights of the observations."""
    if input.ndim > 2:
        raise RuntimeError(f"cov(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions")
    if input.dtype == torch.bool:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    x = input.reshape(1, -1) if input.ndim < 2 else input
    if not (x.is_floating_point() or x.is_complex()):
        x = x.to(torch.get_default_dtype())
    n = x.shape[1]
    w = None
    if fweights is not None:
        _check_weights("fweights", fweights, n, integral=True)
        w = fweights
    if aweights is not None:
        _check_weights("aweights", aweights, n, integral=False)
        w = aweights if w is None else w * aweights
    total: Any = n if w is None else w.sum()
    if w is not None and n and any_true(total == 0):
        raise ZeroDivisionError("cov(): weights sum to zero, can't be normalized")
    mean = x.mean(1, keepdim=True) if w is None else (x * w).sum(1, keepdim=True) / total
    if w is None or aweights is None or correction == 0:
        freedom = total - correction
    else:
        freedom = total - correction * (w * aweights).sum() / total
    if freedom <= 0 if w is None else any_true(freedom <= 0):
        warnings.warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.", stacklevel=2
        )
        freedom = 0 if w is None else freedom.clamp(min=0)
    centred = x - mean
    weighted = centred if w is None else centred * w
    return (centred @ weighted.mH / freedom).squeeze()


def corrcoef(input: Tensor) -> Tensor:
    """Correlation coefficients of variables in rows."""
    if input.ndim > 2:
        raise RuntimeError(f"corrcoef(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions")
    c = cov(input)
    if c.ndim == 0:
        return c / c
    deviation = torch.real(c.diagonal()).sqrt()
    correlation = c / deviation.unsqueeze(1) / deviation.unsqueeze(0)
    if c.is_complex():
        return torch.complex(correlation.real.clamp(-1, 1), correlation.imag.clamp(-1, 1))
    return correlation.clamp(-1, 1)


def _uneven_gradient(y: Any, x: Any, dim: int, edge_order: int) -> Any:
    """Second-order differences on points at any distance, one-sided at the ends."""
    size = y.shape[dim]
    column = [-1 if d == dim else 1 for d in range(y.ndim)]
    h = torch.diff(x)
    left, right = h[:-1].reshape(column), h[1:].reshape(column)
    part = lambda start, length: y.narrow(dim, start, length)  # noqa: E731
    inner = (
        (-right / (left * (left + right))) * part(0, size - 2)
        + ((right - left) / (left * right)) * part(1, size - 2)
        + (left / (right * (left + right))) * part(2, size - 2)
    )
    if edge_order == 1:
        first, last = (part(1, 1) - part(0, 1)) / h[0], (part(size - 1, 1) - part(size - 2, 1)) / h[-1]
    else:
        a, b = h[0], h[1]
        first = -(2 * a + b) / (a * (a + b)) * part(0, 1) + (a + b) / (a * b) * part(1, 1) - a / (b * (a + b)) * part(2, 1)
        a, b = h[-2], h[-1]
        last = (
            b / (a * (a + b)) * part(size - 3, 1) - (a + b) / (a * b) * part(size - 2, 1) + (2 * b + a) / (b * (a + b)) * part(size - 1, 1)
        )
    return torch.cat([first, inner, last], dim)


def _even_gradient(y: Any, h: Any, dim: int, edge_order: int) -> Any:
    if isinstance(h, (int, float)):
        return _C._ops._even_gradient(y, h, dim, edge_order)
    size = y.shape[dim]
    part = lambda start, length: y.narrow(dim, start, length)  # noqa: E731
    inner = (part(2, size - 2) - part(0, size - 2)) / (2.0 * h)
    if edge_order == 1:
        steps = part(1, size - 1) - part(0, size - 1)
        first, last = steps.narrow(dim, 0, 1), steps.narrow(dim, size - 2, 1)
        first, last = first / h, last / h
    else:
        first = (-1.5 * part(0, 1) + 2.0 * part(1, 1) - 0.5 * part(2, 1)) / h
        last = (0.5 * part(size - 3, 1) - 2.0 * part(size - 2, 1) + 1.5 * part(size - 1, 1)) / h
    return torch.cat([first, inner, last], dim)


def gradient(
    input: Tensor, *, spacing: float | Sequence[Any] | Tensor = 1, dim: int | Sequence[int] | None = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    """Numerical derivative of samples along dims, by central differences of second order."""
    if (
        isinstance(spacing, (int, float))
        and 1 <= edge_order <= 2
        and input.is_floating_point()
        and min(input.shape, default=0) > edge_order
    ):  # mostly
        if dim is None:
            return tuple([_C._ops._even_gradient(input, spacing, d, edge_order) for d in range(input.ndim)])
        if isinstance(dim, int):
            return (_C._ops._even_gradient(input, spacing, dim, edge_order),)
    dims = list(range(input.ndim)) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    dims = [_wrap(d, input.ndim) for d in dims]
    if edge_order not in (1, 2):
        raise RuntimeError(f"torch.gradient only supports edge_order=1 and edge_order=2, but received edge_order={edge_order}")
    for i, d in enumerate(dims):
        if d in dims[:i]:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
        if input.shape[d] < edge_order + 1:
            raise RuntimeError(
                f"torch.gradient expected each dimension size to be at least edge_order+1, got {input.shape[d]} at dimension {d}"
            )
    spacing = 1 if spacing is None else spacing
    steps = list(spacing) if isinstance(spacing, (list, tuple)) else [spacing] * len(dims)
    if len(steps) != len(dims):
        raise RuntimeError("torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to "
                           f"'self.dim() = {len(dims)}', "
                           f"since dim argument was not given, but got a list of length {len(steps)}")  # fmt: skip
    if input.dtype in (torch.uint8, torch.bool):
        raise RuntimeError(f"torch.gradient does not support {str(input.dtype).rpartition('.')[2]} input.")
    y = input if input.is_floating_point() or input.is_complex() else input.to(torch.get_default_dtype())
    out = []
    for d, step in zip(dims, steps, strict=False):
        if isinstance(step, torch.Tensor) and step.ndim == 1:
            if step.numel() != input.shape[d]:
                raise RuntimeError(
                    "torch.gradient expected each element of 'spacing' to have the same size as its dimension, "
                    f"got {step.numel()} and {input.shape[d]}"
                )
            out.append(_uneven_gradient(y, step, d, edge_order))
        else:
            out.append(_even_gradient(y, step, d, edge_order))
    return tuple(out)
