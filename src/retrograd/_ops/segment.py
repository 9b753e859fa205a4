"""segment_reduce: one reduction per run of neighbouring elements."""

from __future__ import annotations

import math
from typing import Any

import retrograd as torch
from retrograd import Tensor
from retrograd._batched import any_true

_EMPTY = {"sum": 0.0, "mean": math.nan, "max": -math.inf, "min": math.inf, "prod": 1.0}


def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Tensor:
    """Sums, means, extrema or products of the segments of one dimension, which `lengths` or `offsets` (one more, from 0) cut.

    Leading dimensions of lengths and offsets are those of data. Where a segment is empty, the result is `initial` or what the reduction of
    nothing is.
    """
    reduce = {"amax": "max", "amin": "min"}.get(reduce, reduce)
    if reduce not in _EMPTY:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    if lengths is None and offsets is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    if not data.is_floating_point():
        raise NotImplementedError(f"segment_reduce(): not implemented for {data.dtype}, expected a floating point tensor")
    n = max(data.dim(), 1)
    if not -n <= axis < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {axis})")
    axis %= n
    starts, counts = _segments(data, lengths, offsets, axis, unsafe)

    # Which segment each element is in: a segment ends where the next one starts. The elements in none make up one more, which is dropped.
    # No shape depends on the numbers, so that vmap can do it.
    batch, size, inner, n = math.prod(data.shape[:axis]), data.size(axis), data.shape[axis + 1 :], counts.size(-1)
    place = torch.arange(size, device=data.device).expand(*data.shape[:axis], size).contiguous()
    owner = torch.searchsorted((starts + counts).contiguous(), place, right=True)
    inside = owner < n
    if n:
        inside = inside & (place >= starts[..., :1])
    owner = torch.where(inside, owner, n) + (n + 1) * torch.arange(batch, device=data.device).reshape(*data.shape[:axis], 1)
    elements = torch.where(inside.reshape(-1, 1), data.reshape(batch * size, math.prod(inner)), 1.0)
    counts = torch.nn.functional.pad(counts, (0, 1), value=1).reshape(-1, 1)
    result = _reduced(elements, reduce, owner.reshape(-1), counts, initial)
    return result.reshape(*data.shape[:axis], n + 1, *inner).narrow(axis, 0, n).contiguous()


def _segments(data: Any, lengths: Any, offsets: Any, axis: int, unsafe: bool) -> tuple[Any, Any]:
    """Where segments start along the axis, and their lengths: [*leading dimensions, segments]."""
    name, given = ("offsets", offsets) if offsets is not None else ("lengths", lengths)
    if given.dtype not in (torch.int32, torch.int64):
        raise NotImplementedError(f"segment_reduce(): {name} must be int32 or int64, not {given.dtype}")
    if data.dim() < given.dim() or given.dim() < 1:
        raise RuntimeError(f"segment_reduce(): Expected data.dim() >= {name}.dim() >= 1, but got {data.dim()} and {given.dim()}")
    if axis != given.dim() - 1:
        raise RuntimeError(f"segment_reduce(): Expected axis to be the last dimension of {name} but got {axis}.")
    if given.shape[:-1] != data.shape[:axis]:
        raise RuntimeError(
            f"segment_reduce(): Expected {name} to have the leading sizes of data, {list(data.shape[:axis])}, but got {list(given.shape[:-1])}"
        )
    given = given.detach().to(torch.int64)
    if name == "offsets":
        if given.size(-1) < 1:
            raise RuntimeError("segment_reduce(): offsets must hold where the first segment starts and where each one ends")
        starts, counts = given[..., :-1], given.diff()
        if any_true(counts < 0):
            raise RuntimeError("segment_reduce(): Expected segment_length >= 0, but offsets decrease")
    else:
        starts, counts = given.cumsum(-1) - given, given
        if any_true(counts < 0):
            raise RuntimeError("lengths contains negative value!")
        if not unsafe and any_true(counts.sum(-1) != data.size(axis)):
            raise RuntimeError(
                "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe."
            )
    if any_true((starts < 0) | (starts + counts > data.size(axis))):  # also when unsafe: PyTorch reads whatever is there
        raise RuntimeError(f"segment_reduce(): {name} go past the {data.size(axis)} elements of dimension {axis}")
    return starts, counts


def _reduced(elements: Any, reduce: str, owner: Any, counts: Any, initial: float | None) -> Any:
    empty = elements.new_full((counts.numel(), elements.size(1)), _EMPTY[reduce] if initial is None else initial)
    if reduce in ("sum", "mean"):
        sums = torch.zeros_like(empty).index_add(0, owner, elements)
        if initial is not None:
            sums = sums + initial
        return sums if reduce == "sum" else torch.where(counts == 0, empty, sums / counts.clamp(min=1))
    places = owner.unsqueeze(1).expand(elements.shape)
    if reduce == "prod":
        products = torch.ones_like(empty).scatter_reduce(0, places, elements, "prod")
        return products if initial is None else products * initial
    extreme = torch.zeros_like(empty).scatter_reduce(0, places, elements, "amax" if reduce == "max" else "amin", include_self=False)
    beaten = extreme < empty if reduce == "max" else extreme > empty
    return torch.where((counts == 0) | (beaten & (initial is not None)), empty, extreme)
