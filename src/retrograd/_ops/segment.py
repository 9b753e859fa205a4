"""segment_reduce: one reduction per run of neighbouring elements."""

from __future__ import annotations

import math
from typing import Any

import retrograd as torch
from retrograd import Tensor
from retrograd._C import _ops

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
    name, given = _segments(data, lengths, offsets, axis)
    owner, counts = _ops._segment_owners(given, data.size(axis), name == "offsets", unsafe)

    # The elements in no segment make up one more, which is dropped. No shape depends on the numbers, so that vmap can do it.
    n = counts.size(-1) - 1
    elements = data.reshape(owner.numel(), math.prod(data.shape[axis + 1 :]))
    if name == "offsets" or unsafe:
        elements = torch.where((owner % (n + 1) != n).reshape(-1, 1), elements, 1.0)
    result = _reduced(elements, reduce, owner.reshape(-1), counts.reshape(-1, 1), initial)
    return result.reshape(*data.shape[:axis], n + 1, *data.shape[axis + 1 :]).narrow(axis, 0, n).contiguous()


def _segments(data: Any, lengths: Any, offsets: Any, axis: int) -> tuple[str, Any]:
    """What cuts the axis, and its numbers: [*leading dimensions, segments], or one more of offsets."""
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
    if name == "offsets" and given.size(-1) < 1:
        raise RuntimeError("segment_reduce(): offsets must hold where the first segment starts and where each one ends")
    return name, given.to(torch.int64)


def _reduced(elements: Any, reduce: str, owner: Any, counts: Any, initial: float | None) -> Any:
    shape = (counts.numel(), elements.size(1))
    if reduce in ("sum", "mean"):
        sums = elements.new_zeros(shape).index_add(0, owner, elements)
        if initial is not None:
            sums = sums + initial
        if reduce == "sum":
            return sums
        return torch.where(counts == 0, _EMPTY[reduce] if initial is None else float(initial), sums / counts.clamp(min=1))
    places = owner.unsqueeze(1).expand(elements.shape)
    if reduce == "prod":
        products = elements.new_ones(shape).scatter_reduce(0, places, elements, "prod")
        return products if initial is None else products * initial
    extreme = elements.new_zeros(shape).scatter_reduce(0, places, elements, "amax" if reduce == "max" else "amin", include_self=False)
    if initial is None:
        return torch.where(counts == 0, _EMPTY[reduce], extreme)
    beaten = extreme < initial if reduce == "max" else extreme > initial
    return torch.where((counts == 0) | beaten, float(initial), extreme)
