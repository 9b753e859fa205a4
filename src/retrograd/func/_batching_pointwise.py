"""Elementwise ops on batches: examples are padded to one rank, and then broadcast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.func._batching import Batch, Flags, Rule, Values, maker, padded, rule

_ops = _C._ops


def _category(dtype: Any) -> int:
    return 0 if dtype is _C.bool else 3 if dtype.is_complex else 2 if dtype.is_floating_point else 1


def _promoted(dtypes: Sequence[Any]) -> Any:
    common = dtypes[0]
    for dtype in dtypes[1:]:
        common = _C.promote_types(common, dtype)
    return common


def example_dtype(tensors: Sequence[Tensor], batched: Sequence[bool], numbers: Sequence[Any] = ()) -> Any:
    """The dtype in which an example is computed: tensors with dimensions come first, then those without, then numbers."""
    ranked = [(v.ndim - b, v.dtype) for v, b in zip(tensors, batched, strict=True)]
    levels = [[d for n, d in ranked if n], [d for n, d in ranked if not n], [_number_dtype(n) for n in numbers]]
    result = None
    for level in levels:
        if level and (result is None or _category(_promoted(level)) > _category(result)):
            result = _promoted(level)
    return result


def _number_dtype(number: Any) -> Any:
    return _C.bool if isinstance(number, bool) else _C.int64 if isinstance(number, int) else _C.get_default_dtype()


def _align(values: Values, batched: Flags, places: Sequence[int], promotes: Sequence[int]) -> int:
    """Pads the batched tensors at `places` to the largest rank, and returns it.

    Where an example is 0-d its batch is not: the dtype it would have counted for, those at `promotes` decide, is given to it first."""
    ndim, mixed, bare, dtype = 0, False, False, None
    for i in places:
        n = values[i].ndim - batched[i]
        ndim = max(ndim, n)
        if i in promotes:
            mixed = mixed or (dtype is not None and dtype is not values[i].dtype)
            dtype = values[i].dtype
            bare = bare or (batched[i] and not n)
    if mixed and bare:
        counted = [i for i in promotes if isinstance(values[i], Tensor)]
        numbers = [values[i] for i in promotes if isinstance(values[i], (bool, int, float))]
        common = example_dtype([values[i] for i in counted], [batched[i] for i in counted], numbers)
        for i in counted:
            if batched[i] and values[i].ndim == 1 and values[i].dtype is not common:
                values[i] = values[i].to(common)
    for i in places:
        if batched[i] and values[i].ndim <= ndim:
            values[i] = padded(values[i], ndim)
    return ndim


def _tensors(values: Values) -> list[int]:
    return [i for i, v in enumerate(values) if isinstance(v, Tensor)]


def pointwise(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    places = _tensors(values)
    if len(places) > 1:
        _align(values, batched, places, places if len(places) == len(values) else range(len(values)))
    return op(*values)


def pointwise_(batch: Batch, op: Any, values: Values, batched: Flags) -> None:
    places = _tensors(values)
    if len(places) > 1:
        ndim = values[0].ndim - 1
        for i in places:
            check_broadcast(values[0], values[i], batched[i], ndim)
        _align(values, batched, places, range(len(values)))
    op(*values)


def check_broadcast(target: Tensor, value: Tensor, batched: bool, ndim: int) -> None:
    """An example may not have more dimensions than the one it is written to."""
    if value.ndim - batched > ndim:
        shape = list(value.shape[1:] if batched else value.shape)
        raise RuntimeError(f"output with shape {list(target.shape[1:])} doesn't match the broadcast shape {shape}")


@maker("elementwise")
def _elementwise(op: Any) -> Rule:
    return pointwise_ if op.mutates else pointwise


@rule("where")
def _where(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    _align(values, batched, _tensors(values), (1, 2))
    return op(*values)


@rule("masked_fill")
def _masked_fill(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    if op.mutates:
        check_broadcast(values[0], values[1], batched[1], values[0].ndim - 1)
    _align(values, batched, (0, 1), ())
    return op(*values)


@rule("masked_fill_tensor")
def _masked_fill_tensor(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    if values[2].ndim - batched[2] != 0:
        raise RuntimeError(
            f"masked_fill only supports a 0-dimensional value tensor, but got tensor with {values[2].ndim - batched[2]} dimension(s)."
        )
    inplace = bool(op.mutates)
    if inplace:
        check_broadcast(values[0], values[1], batched[1], values[0].ndim - 1)
    _align(values, batched, (0, 1), ())
    if not batched[2]:
        return op(*values)
    target, mask, value = values
    value = padded(value.to(target.dtype), max(target.ndim - batched[0], mask.ndim - batched[1]))
    filled = _ops.where(mask, value, target)
    return target.copy_(filled) if inplace else filled


@rule("copy")
def _copy(batch: Batch, op: Any, values: Values, batched: Flags) -> None:
    if batched[1]:
        missing = values[0].ndim - values[1].ndim
        if missing < 0:  # leading dimensions of size 1 are forgiven
            extra = values[1].shape[1 : 1 - missing]
            if any(n != 1 for n in extra):
                check_broadcast(values[0], values[1], True, values[0].ndim - 1)
            values[1] = values[1].view((values[1].shape[0], *values[1].shape[1 - missing :]))
        values[1] = padded(values[1], values[0].ndim - 1)
    else:
        source = values[1]
        while source.ndim >= values[0].ndim and source.ndim and source.shape[0] == 1:
            source = source.squeeze(0)
        check_broadcast(values[0], source, False, values[0].ndim - 1)
        values[1] = source
    op(*values)


@rule("fill")
def _fill(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    target, value = values
    if value.ndim - batched[1] != 0:
        raise RuntimeError(f"fill only supports 0-dimension value tensor but got tensor with {value.ndim - batched[1]} dimensions.")
    if not batched[1]:
        return op(target, value)
    full = batch.full(target, batched[0])
    return padded(value.to(target.dtype), full.ndim - 1).expand(full.shape).clone()


@rule("fill_in_place")
def _fill_inplace(batch: Batch, op: Any, values: Values, batched: Flags) -> None:
    target, value = values
    if value.ndim - batched[1] != 0:
        raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim - batched[1]} dimensions.")
    if batched[1]:
        target.copy_(padded(value, target.ndim - 1))
    else:
        op(target, value)
