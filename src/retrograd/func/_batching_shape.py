"""Views, and ops that move elements without computing."""

from __future__ import annotations

import math
from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.func._batching import Batch, Flags, Rule, Values, list_places, loop, maker, padded, place, rule, wrap_dim, wrap_dims

_ops = _C._ops


def _numbers(value: Tensor, size: tuple[int, ...]) -> tuple[int, ...]:
    """Sizes of an example with -1 worked out: with the batch in front it could not be where there are no elements."""
    if -1 not in size:
        return tuple(size)
    count, known = math.prod(value.shape[1:]), math.prod([n for n in size if n != -1])
    if size.count(-1) > 1 or not known or count % known:
        value.new_empty(value.shape[1:]).view(size)  # says what is wrong
        raise RuntimeError(f"shape '{list(size)}' is invalid for input of size {count}")
    return tuple([count // known if n == -1 else n for n in size])


@rule("view")
def _view(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, size = values
    if any(n < -1 for n in size):
        return loop(batch, op, values, batched)
    return op(value, (value.shape[0], *_numbers(value, size)))


@rule("permute")
def _permute(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, dims = values
    if len(dims) != value.ndim - 1:
        return loop(batch, op, values, batched)
    return op(value, (0, *wrap_dims(dims, len(dims))))


@rule("matrix_t")
def _t(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    ndim = values[0].ndim - 1
    if ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {ndim}D")
    return values[0].transpose(1, 2) if ndim == 2 else values[0].view(values[0].shape)


@rule("expand")
def _expand(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, size, implicit = values
    missing = len(size) - (value.ndim - 1)
    if missing < 0 or any(n == -1 for n in size[:missing]):
        return loop(batch, op, values, batched)
    return op(padded(value, len(size)), (value.shape[0], *size), implicit=implicit)


@rule("squeeze")
def _squeeze(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value = values[0]
    shape = value.shape
    return value.view((shape[0], *(n for n in shape[1:] if n != 1)))


@rule("squeeze_dims")
def _squeeze_dims(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, dims = values
    ndim = value.ndim - 1
    if not ndim:
        wrap_dims((dims,) if isinstance(dims, int) else dims, 1)
        return value.view(value.shape)
    return op(value, wrap_dim(dims, ndim) if isinstance(dims, int) else wrap_dims(dims, ndim))


@maker("along_new")
def _along_new(op: Any, dim: str) -> Rule:
    """A dimension of the result, which has one more than the tensor, or each of a list of tensors."""
    at, lists = place(op, dim), list_places(op)

    def run(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
        if lists:
            values[0] = [batch.full(t, b) for t, b in zip(values[0], batched[0], strict=True)]
        values[at] = wrap_dim(values[at], (values[0][0] if lists else values[0]).ndim)
        return op(*values)

    return run


@maker("sized")
def _sized(op: Any, size: str, *dims: str) -> Rule:
    """The result has the size that an argument says; `dims` are dimensions of it."""
    at, places = place(op, size), [place(op, d) for d in dims]

    def run(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
        sizes = values[at]
        if places and not sizes:
            return loop(batch, op, values, batched)
        values[at] = (batch.size, *sizes)
        for i in places:
            values[i] = wrap_dim(values[i], len(sizes))
        return op(*values)

    return run


@rule("diag_embed")
def _diag_embed(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, offset, dim1, dim2 = values
    if value.ndim == 1:
        return loop(batch, op, values, batched)
    return op(value, offset, wrap_dim(dim1, value.ndim), wrap_dim(dim2, value.ndim))


# -- joining and repeating ------------------------------------------------------------------------


@rule("cat")
def _cat(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    (tensors, dim), flags = values, batched[0]
    parts = [batch.full(t, b) for t, b in zip(tensors, flags, strict=True)]
    ndim = max(p.ndim for p in parts) - 1
    if not ndim:
        return loop(batch, op, values, batched)
    # Empty vectors are skipped among tensors of any rank; their dtype counts.
    shape = next(p.shape for p in parts if p.ndim - 1 == ndim)
    at = wrap_dim(dim, ndim)
    parts = [
        p.new_empty((*shape[:at], 0, *shape[at + 1 :])) if p.ndim == 2 and ndim > 1 and not p.shape[1] and p.shape[0] == batch.size else p
        for p in parts
    ]
    return op(parts, at)


@rule("repeat")
def _repeat(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, repeats = values
    if len(repeats) < value.ndim - 1:
        return loop(batch, op, values, batched)
    return op(padded(value, len(repeats)), (1, *repeats))


@rule("flip")
def _flip(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, dims = values
    if value.ndim == 1:
        wrap_dims(dims, 1)
        return value.clone()
    return op(value, wrap_dims(dims, value.ndim - 1))


@rule("roll")
def _roll(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, shifts, dims = values
    if value.ndim == 1:
        return loop(batch, op, values, batched)
    if not dims and len(shifts) == 1:
        return op(value.flatten(1), shifts, (1,)).view(value.shape)
    return op(value, shifts, wrap_dims(dims, value.ndim - 1))


@rule("rot90")
def _rot90(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, k, dims = values
    if value.ndim < 3:
        return loop(batch, op, values, batched)
    return op(value, k, wrap_dims(dims, value.ndim - 1))


# -- memory ---------------------------------------------------------------------------------------


@rule("clone_format")
def _clone_format(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    if values[1] in (None, _C.contiguous_format, _C.preserve_format):
        return op(*values)
    return loop(batch, op, values, batched)


def _extent(size: tuple[int, ...], stride: tuple[int, ...]) -> int:
    """How far apart examples of this layout have to lie."""
    return 1 + sum([(n - 1) * s for n, s in zip(size, stride, strict=True)]) if 0 not in size else 0


@rule("clone_as")
def _clone_as(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, stride = values
    return op(value, (_extent(value.shape[1:], stride), *stride))


@rule("empty_strided")
def _new_empty_strided(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, size, stride, *rest = values
    return op(value, (batch.size, *size), (_extent(size, stride), *stride), *rest)


@rule("as_strided")
def _as_strided(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    """Examples lie stride(0) apart. An offset is counted from where the example begins that this one is a view of."""
    value, size, stride, offset, example = values
    start = value.storage_offset()
    if offset is not None:
        start += offset - example.storage_offset()
    return op(value, (batch.size, *size), (value.stride(0), *stride), start)
