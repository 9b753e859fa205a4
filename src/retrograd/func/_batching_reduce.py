"""Reductions, scans, sorting and everything else that works along dimensions."""

from __future__ import annotations

from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.func._batching import (
    Batch,
    Flags,
    Rule,
    Values,
    examples_like,
    loop,
    maker,
    padded,
    place,
    rule,
    tensor_places,
    wrap_dim,
    wrap_dims,
)

_ops = _C._ops


# -- along given dimensions -----------------------------------------------------------------------


def _squeezed(result: Any) -> Any:
    """Takes the dimension out again that a 0-d example was given."""
    if isinstance(result, Tensor):
        return result.view(result.shape[:1])
    return [_squeezed(r) for r in result]


@maker("along")
def along(op: Any, *dims: str) -> Rule:
    """Tensors of one rank, and dimensions of them. A 0-d example gets a dimension of size 1, which its result loses."""
    places, tensors = [place(op, d) for d in dims], tensor_places(op)
    first = places[0]

    def several(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
        if len({values[i].ndim - batched[i] for i in tensors}) > 1:
            return loop(batch, op, values, batched)
        for i in tensors:
            values[i] = batch.full(values[i], batched[i])
        return one(batch, op, values, batched)

    def one(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
        ndim = values[0].ndim - 1
        if not ndim:
            for i in tensors:
                values[i] = values[i].unsqueeze(1)
            return _squeezed(one(batch, op, values, batched))
        dim = values[first]
        values[first] = wrap_dim(dim, ndim) if isinstance(dim, int) else wrap_dims(dim, ndim) if dim else tuple(range(1, ndim + 1))
        if len(places) > 1:
            values[places[1]] = wrap_dim(values[places[1]], ndim)
        return op(*values)

    return several if len(tensors) > 1 else one


@maker("along_some")
def along_some(op: Any, *dims: str) -> Rule:
    """A tensor, maybe further ones of other ranks, and dimensions of the first, which has to have some."""
    places, others = [place(op, d) for d in dims], tensor_places(op)[1:]

    def run(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
        ndim = values[0].ndim - batched[0]
        if not ndim:  # an error, or unfold: each example by itself
            return loop(batch, op, values, batched)
        if others:
            values[0] = batch.full(values[0], batched[0])
            for i in others:
                values[i] = batch.full(values[i], batched[i])
        for i in places:
            values[i] = wrap_dim(values[i], ndim)
        return op(*values)

    return run


@maker("along_listed")
def _along_listed(op: Any, dim: str) -> Rule:
    """An empty list of dimensions is none here."""
    usual, at = along(op, dim), place(op, dim)

    def run(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
        empty = values[at] is not None and not len(values[at])
        return op(*values) if empty else usual(batch, op, values, batched)

    return run


# -- over all of an example -----------------------------------------------------------------------


def _rows(value: Tensor) -> Tensor:
    """Each example as a row."""
    return value.unsqueeze(1) if value.ndim == 1 else value.flatten(1)


@maker("over_example")
def _over_example(op: Any, along: str) -> Rule:
    """All elements of an example: the op of that name does the same along dimensions, one or several of them."""
    other: Any = _C._find_op(along)
    names = [p.name for p in other.parameters]
    template, dim = [p.default for p in other.parameters], names.index("dim")
    same = [(names.index(p.name), i) for i, p in enumerate(op.parameters) if i]
    one, several = other.parameters[dim].type == "int", len(other.results) > 1

    def run(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
        value = _rows(values[0]) if one or values[0].ndim == 1 else values[0]
        if several and not value.shape[1]:
            return loop(batch, op, values, batched)
        arguments = template.copy()
        arguments[0], arguments[dim] = value, 1 if one else tuple(range(1, value.ndim))
        for there, here in same:
            arguments[there] = values[here]
        result = other(*arguments)
        return result[0] if several else result

    return run


@maker("along_or_over_example")
def _along_or_over_example(op: Any, dim: str, keepdim: str) -> Rule:
    """Along a dimension, or over all elements where there is none."""
    usual, at, keep = along(op, dim), place(op, dim), place(op, keepdim)

    def run(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
        if values[at] is not None:
            return usual(batch, op, values, batched)
        value, kept = values[0], values[keep]
        values[0], values[at], values[keep] = _rows(value), 1, False
        result = op(*values)
        if not kept:
            return result
        shape = (value.shape[0], *(1,) * (value.ndim - 1))
        return result.view(shape) if isinstance(result, Tensor) else [r.view(shape) for r in result]

    return run


@rule("trace")
def _trace(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    if values[0].ndim != 3:
        return loop(batch, op, values, batched)
    return values[0].diagonal(0, 1, 2).sum(-1)


# -- sizes ----------------------------------------------------------------------------------------


@rule("sum_to")
def _sum_to(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, size = values
    missing = value.ndim - 1 - len(size)
    result = op(value, (batch.size, *(1,) * missing, *size))
    return result.view((batch.size, *size)) if missing else result


@rule("expand_reduced")
def _expand_reduced(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, size, dim, keepdim = values
    ndim = len(size)
    if not ndim:
        return value.view(value.shape)
    dims = wrap_dims(dim, ndim) if dim else tuple(range(1, ndim + 1))
    return op(value, (batch.size, *size), dims, keepdim)


@rule("take_along")
def _take_along(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, dim, indices, keepdim = values
    value, indices = batch.full(value, batched[0]), batch.full(indices, batched[2])
    if value.ndim == 1:
        return _squeezed(op(value.unsqueeze(1), 1, indices.unsqueeze(1), True))
    return op(value, wrap_dim(dim, value.ndim - 1), indices, keepdim)


@rule("put_along")
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


@rule("cdist")
def _cdist(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    first, second = values[:2]
    ndim = max(first.ndim - batched[0], second.ndim - batched[1])
    return op(padded(batch.full(first, batched[0]), ndim), padded(batch.full(second, batched[1]), ndim), values[2])


# -- searching ------------------------------------------------------------------------------------


@rule("bucketize")
def _bucketize(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    return loop(batch, op, values, batched) if batched[1] else op(*values)


@rule("searchsorted")
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


@maker("dynamic_shape")
def _dynamic_shape(op: Any, name: str) -> Rule:
    def run(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
        raise RuntimeError(_dynamic(name))

    return run


@rule("one_answer")
def _equal(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
    raise RuntimeError(
        f"Batching rule not implemented for aten::{op.name}. We could not generate a fallback. It gives one bool, which cannot differ between "
        "examples: compare with `(a == b).all()`."
    )
