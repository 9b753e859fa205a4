"""Histograms, of one and of several dimensions."""

from __future__ import annotations

import math
from builtins import range as _counting  # `range` is an argument here
from collections.abc import Sequence
from typing import Any, NamedTuple

from retrograd import Tensor
from retrograd._C import _ops
from retrograd._ops.out import written
from retrograd.return_types import _of

_HISTOGRAM = "torch.histogram: input tensor and hist tensor should have the same dtype, but got input {result_cpp} and hist {out_cpp}"

_BINS = "histogramdd() received an invalid combination of arguments - bins must be an int, or a list of ints or of tensors"


@_of("histogram")
class histogram_result(NamedTuple):
    hist: Tensor
    bin_edges: Tensor


@_of("histogramdd")
class histogramdd_result(NamedTuple):
    hist: Tensor
    bin_edges: tuple[Tensor, ...]


def _edges(column: Any, bins: Any, d: int, low: float = 0.0, high: float = 1.0) -> Any:
    """The edges of the bins of one dimension: given, or evenly over a range."""
    if isinstance(bins, Tensor):
        if bins.ndim != 1:
            raise RuntimeError(
                f"torch.histogramdd(): bins tensor should have one dimension, but got {bins.ndim} dimensions "
                f"in the bins tensor for dimension {d}"
            )
        if bins.dtype != column.dtype:
            raise RuntimeError("torch.histogramdd(): input tensor and bins tensors should have the same dtype, "
                               f"but got input with dtype {column.dtype._title} and bins for dimension {d} with dtype {bins.dtype._title}")  # fmt: skip
        if bins.numel() == 0:
            raise RuntimeError(f"torch.histogramdd(): bins tensor should have at least 1 element, but got none for dimension {d}")
        return bins.detach()
    return _ops._even_edges(column, bins, low, high, d)


def _counted(points: Any, edges: Sequence[Any], bins: Sequence[int], weight: Any, density: bool) -> Any:
    """How many rows of points [n, d], or what weight of them, fall into each of so many bins in each dimension."""
    weights = None if weight is None else weight.detach().reshape(-1)
    hist = _ops._histogramdd_counts(points, edges[0] if len(edges) == 1 else _ops.cat(edges), bins, weights)
    if density:
        hist = hist / hist.sum()
        for d, edge in enumerate(edges):
            hist = hist / edge.diff().reshape([-1 if i == d else 1 for i in range(len(edges))])
    return hist


def _refuse_meta(name: str) -> None:
    raise NotImplementedError(f"aten::{name}: attempted to run this operator with Meta tensors, but they have no values to count")


def histogram(
    input: Tensor,
    bins: Tensor | int | Sequence[float] = 100,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
    out: Sequence[Tensor] | None = None,
) -> histogram_result:
    """How many elements, or what weight of them, fall into each bin, and the edges of the bins."""
    given = isinstance(bins, Tensor)
    if not input.is_floating_point() or (not given and input.itemsize < 4):
        raise NotImplementedError(f"\"histogramdd\" not implemented for '{input.dtype._title}'")
    if weight is not None and weight.shape != input.shape:
        raise RuntimeError("torch.histogramdd(): if weight tensor is provided it should have the same shape as the input tensor, "
                           f"but got input with shape {list(input.shape)} and weight with shape {list(weight.shape)}")  # fmt: skip
    if range is not None:
        if given:
            raise TypeError("histogram(): `range` has no meaning when `bins` is a tensor of edges")
        if len(range) != 2:
            raise RuntimeError(f"torch.histogramdd(): for a 1-dimensional histogram range should have 2 elements, but got {len(range)}")
    if input.is_meta:
        _refuse_meta("histogram.bins_tensor" if given else "histogram.bin_ct")
    points = (input.detach() if input.requires_grad else input).reshape(-1, 1)
    if given:
        edges = _edges(points, bins, 0)
        bins = edges.numel() - 1
    elif range is None:
        edges = _ops._histogram_edges(points, (bins,))[0]  # type: ignore[arg-type]
    else:
        edges = _ops._even_edges(points, bins, range[0], range[1], 0)  # type: ignore[arg-type]
    if weight is None and not density:
        hist = _ops._histogramdd_counts(points, edges, (bins,))  # type: ignore[arg-type]
    else:
        hist = _counted(points, [edges], (bins,), weight, density)  # type: ignore[arg-type]
    if out is not None:
        return histogram_result(written(hist, out[0], _HISTOGRAM), written(edges, out[1], _HISTOGRAM.replace("hist ", "bin_edges ")))
    return tuple.__new__(histogram_result, (hist, edges.clone() if given else edges))


def histogramdd(
    input: Tensor,
    bins: int | Sequence[int] | Sequence[Tensor],
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> histogramdd_result:
    """The histogram of points whose coordinates lie along the last dimension, and the edges of the bins in each."""
    rank = input.ndim
    if rank < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    n = input.size(-1)
    bins = [bins] * n if isinstance(bins, int) else bins
    if not isinstance(bins, (list, tuple)):
        raise TypeError(_BINS)
    given = False
    for b in bins:
        if not isinstance(b, int):
            if not isinstance(b, Tensor):
                raise TypeError(_BINS)
            given = True
    if len(bins) != n:
        raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    if not input.is_floating_point() or (range is None and not given and input.itemsize < 4):
        raise NotImplementedError(f"\"histogramdd\" not implemented for '{input.dtype._title}'")
    if weight is not None:
        if weight.dtype != input.dtype:
            raise RuntimeError("torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same dtype, "
                               f"but got input({input.dtype._title}), and weight({weight.dtype._title})")  # fmt: skip
        if weight.shape != input.shape[:-1]:
            raise RuntimeError("torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor "
                               f"excluding its innermost dimension, but got {list(weight.shape)} for {list(input.shape)}")  # fmt: skip
    if range is not None and len(range) != 2 * n:
        raise RuntimeError(f"torch.histogramdd: for a {n}-dimensional histogram range should have {2 * n} elements, but got {len(range)}")
    if input.is_meta:
        _refuse_meta("_histogramdd_from_bin_tensors" if given else "_histogramdd_bin_edges")
    points = input.detach() if input.requires_grad else input
    if rank != 2:
        points = points.reshape(math.prod(input.shape[:-1]), n)
    if given:
        spans = [(0.0, 1.0)] * n if range is None else [range[2 * d : 2 * d + 2] for d in _counting(n)]
        edges = [_edges(points, b, d, *span) for d, (b, span) in enumerate(zip(bins, spans, strict=True))]
        hist = _counted(points, edges, [e.numel() - 1 for e in edges], weight, density)
        return histogramdd_result(hist, tuple(e.clone() if isinstance(b, Tensor) else e for e, b in zip(edges, bins, strict=True)))
    if range is None:
        even = _ops._histogram_edges(points, bins)
    else:
        even = tuple([_ops._even_edges(points, bins[d], range[2 * d], range[2 * d + 1], d) for d in _counting(n)])
    return tuple.__new__(histogramdd_result, (_counted(points, even, bins, weight, density), tuple(even)))
