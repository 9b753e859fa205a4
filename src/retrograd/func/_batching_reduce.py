"""Reductions, scans, sorting and everything else that works along dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.func._batching import Batch, Flags, Rule, Values, examples_like, loop, padded, rule, wrap_dim, wrap_dims

_ops = _C._ops


# -- along given dimensions -----------------------------------------------------------------------


def _squeezed(result: Any) -> Any:
    """Takes the dimension out again that a 0-d example was given."""
    if isinstance(result, Tensor):
        return result.view(result.shape[:1])
    return [_squeezed(r) for r in result]


def along(place: int) -> Rule:
    """For an op on one tensor with a dimension, or a list of them (none: all), at argument `place`."""

    def run(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
        ndim = values[0].ndim - 1
        dim = values[place]
        scalar = ndim == 0
        if scalar:
            values[0] = values[0].unsqueeze(1)
            ndim = 1
        if isinstance(dim, int):
            values[place] = wrap_dim(dim, ndim)
        else:
            values[place] = wrap_dims(dim, ndim) if dim else tuple(range(1, ndim + 1))
        result = op(*values)
        return _squeezed(result) if scalar else result

    return run


for _place, _names in {
    1: (
        "sum.dim", "nansum", "mean.dim", "prod.dim_int", "count_nonzero", "max.dim", "min.dim", "amax", "amin",
        "var.correction", "std.correction", "var_mean.correction", "std_mean.correction", "logsumexp", "softmax", "log_softmax", "cumsum",
        "_reverse_cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "sort", "argsort", "median.dim", "nanmedian.dim", "mode",
        "glu",
    ),
    2: ("sort.stable", "argsort.stable", "topk", "kthvalue", "linalg_vector_norm"),
}.items():  # fmt: skip
    rule(*_names)(along(_place))


@rule("any.dims", "all.dims")
def _any_all(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    """An empty list of dimensions is none here."""
    return op(*values) if values[1] is not None and not len(values[1]) else _along_one(batch, op, values, batched)


@rule("cumsum_", "cumprod_")
def _scan_inplace(batch: Batch, op: Any, values: Values, batched: Flags) -> None:
    if values[0].ndim == 1:
        values[0] = values[0].unsqueeze(1)
    values[1] = wrap_dim(values[1], values[0].ndim - 1)
    op(*values)


@rule("_softmax_backward_data", "_log_softmax_backward_data", "_linear_recurrence")
def _along_with_two(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    """Two tensors of one shape and a dimension."""
    first, second = batch.full(values[0], batched[0]), batch.full(values[1], batched[1])
    scalar = first.ndim == 1
    if scalar:
        first, second = first.unsqueeze(1), second.unsqueeze(1)
    result = op(first, second, wrap_dim(values[2], first.ndim - 1), *values[3:])
    return _squeezed(result) if scalar else result


# -- over all of an example -----------------------------------------------------------------------


def _rows(value: Tensor) -> Tensor:
    """Each example as a row."""
    return value.unsqueeze(1) if value.ndim == 1 else value.flatten(1)


def _over_all(reduce: Callable[..., Any]) -> Rule:
    """reduce(value, dims, further arguments)."""

    def run(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
        value = values[0]
        if value.ndim == 1:
            value = value.unsqueeze(1)
        return reduce(value, tuple(range(1, value.ndim)), *values[1:])

    return run


rule("sum")(_over_all(lambda value, dims, dtype: _ops.sum(value, dims, dtype=dtype)))
rule("mean")(_over_all(lambda value, dims, dtype: _ops.mean(value, dims, dtype=dtype)))
rule("any")(_over_all(lambda value, dims: _ops.any(value, dims)))
rule("all")(_over_all(lambda value, dims: _ops.all(value, dims)))
rule("max")(_over_all(lambda value, dims: _ops.amax(value, dims)))
rule("min")(_over_all(lambda value, dims: _ops.amin(value, dims)))


@rule("prod")
def _prod(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    return _ops.prod(_rows(values[0]), 1, dtype=values[1])


@rule("median")
def _median(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    rows = _rows(values[0])
    return _ops.median(rows, 1)[0] if rows.shape[1] else loop(batch, op, values, batched)


@rule("nanmedian")
def _nanmedian(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    rows = _rows(values[0])
    return _ops.nanmedian(rows, 1)[0] if rows.shape[1] else loop(batch, op, values, batched)


@rule("argmax", "argmin")
def _arg_extremum(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, dim, keepdim = values
    if dim is not None:
        return _along_one(batch, op, values, batched)
    result = op(_rows(value), 1, False)
    return result.view((value.shape[0], *(1,) * (value.ndim - 1))) if keepdim else result


@rule("aminmax")
def _aminmax(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
    value, dim, keepdim = values
    if dim is not None:
        return _along_one(batch, op, values, batched)
    low, high = op(_rows(value), dim=1, keepdim=False)
    if not keepdim:
        return low, high
    shape = (value.shape[0], *(1,) * (value.ndim - 1))
    return low.view(shape), high.view(shape)


_along_one = along(1)


@rule("trace")
def _trace(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    if values[0].ndim != 3:
        return loop(batch, op, values, batched)
    return values[0].diagonal(0, 1, 2).sum(-1)


# -- sizes ----------------------------------------------------------------------------------------


@rule("_sum_to")
def _sum_to(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, size = values
    missing = value.ndim - 1 - len(size)
    result = op(value, (batch.size, *(1,) * missing, *size))
    return result.view((batch.size, *size)) if missing else result


@rule("_expand_reduced")
def _expand_reduced(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, size, dim, keepdim = values
    ndim = len(size)
    if not ndim:
        return value.view(value.shape)
    dims = wrap_dims(dim, ndim) if dim else tuple(range(1, ndim + 1))
    return op(value, (batch.size, *size), dims, keepdim)


@rule("_take_along")
def _take_along(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, dim, indices, keepdim = values
    value, indices = batch.full(value, batched[0]), batch.full(indices, batched[2])
    if value.ndim == 1:
        return _squeezed(op(value.unsqueeze(1), 1, indices.unsqueeze(1), True))
    return op(value, wrap_dim(dim, value.ndim - 1), indices, keepdim)


@rule("_put_along")
def _put_along(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, dim, indices, size, keepdim, accumulate = values
    value, indices = batch.full(value, batched[0]), batch.full(indices, batched[2])
    if not size:
        return _squeezed(op(value.unsqueeze(1), 1, indices.unsqueeze(1), (batch.size, 1), True, accumulate))
    return op(value, wrap_dim(dim, len(size)), indices, (batch.size, *size), keepdim, accumulate)


# -- distances ------------------------------------------------------------------------------------


@rule("dist")
def _dist(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    first, second = examples_like(values[:2], batched[:2])
    difference = first - second
    if difference.ndim == 1:
        difference = difference.unsqueeze(1)
    return _ops.linalg_vector_norm(difference, values[2], tuple(range(1, difference.ndim)))


@rule("_cdist_forward")
def _cdist(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    first, second = values[:2]
    ndim = max(first.ndim - batched[0], second.ndim - batched[1])
    return op(padded(batch.full(first, batched[0]), ndim), padded(batch.full(second, batched[1]), ndim), values[2])


# -- searching ------------------------------------------------------------------------------------


@rule("bucketize.Tensor")
def _bucketize(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    return loop(batch, op, values, batched) if batched[1] else op(*values)


@rule("searchsorted.Tensor")
def _searchsorted(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    boundaries, wanted, out_int32, right, side, sorter = values
    if not batched[0] and not batched[5] and boundaries.ndim == 1:
        return op(*values)
    if boundaries.ndim - batched[0] != wanted.ndim - batched[1] or not boundaries.ndim - batched[0]:
        return loop(batch, op, values, batched)
    full_sorter = None if sorter is None else batch.full(sorter, batched[5]).contiguous()
    full_boundaries, full_wanted = batch.full(boundaries, batched[0]), batch.full(wanted, batched[1])
    return op(full_boundaries.contiguous(), full_wanted.contiguous(), out_int32, right, side, full_sorter)


def _dynamic(name: str) -> str:
    return (
        "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
        f"aten::{name}: each sample would give a result of another size."
    )


@rule("_unique2", "_unique_dim", "_unique_consecutive", "_nonzero")
def _dynamic_shape(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
    public = {"_nonzero": "nonzero", "_unique_dim": "unique_dim", "_unique_consecutive": "unique_consecutive"}
    raise RuntimeError(_dynamic(public.get(op.name, op.name)))


@rule("equal")
def _equal(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
    raise RuntimeError(
        "Batching rule not implemented for aten::equal. We could not generate a fallback. It gives one bool, which cannot differ between "
        "examples: compare with `(a == b).all()`."
    )
