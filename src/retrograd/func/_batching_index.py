"""Reading and writing at indices."""

from __future__ import annotations

from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.func._batching import Batch, Flags, Rule, Values, loop, maker, padded, rule, wrap_dim

_ops = _C._ops


# -- along a dimension ----------------------------------------------------------------------------


def _spread(batch: Batch, index: Tensor, batched: bool, shape: tuple[int, ...], dim: int) -> Tensor:
    """A vector of indices along physical dimension `dim` for all of a tensor of `shape`, as gather and scatter want it."""
    index = batch.full(index, batched)
    size = (batch.size, *(index.shape[1] if d == dim else 1 for d in range(1, len(shape))))
    return index.view(size).expand([index.shape[1] if d == dim else n for d, n in enumerate(shape)])


@rule("index_select")
def _index_select(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, dim, index = values
    ndim = value.ndim - batched[0]
    if not ndim or index.ndim - batched[2] != 1:
        return loop(batch, op, values, batched)
    at = wrap_dim(dim, ndim)
    if not batched[2]:
        return op(value, at, index)
    if batched[0]:
        return value.gather(at, _spread(batch, index, True, value.shape, at))
    found = op(value, at - 1, index.flatten())
    shape = value.shape
    return found.view((*shape[: at - 1], *index.shape, *shape[at:])).movedim(at - 1, 0)


@maker("index_write")
def _index_write(op: Any, how: str) -> Rule:
    def run(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
        value, dim, index, source, *rest = values
        ndim = value.ndim - batched[0]
        if not ndim or index.ndim - batched[2] != 1 or source.ndim - batched[3] != ndim:
            return loop(batch, op, values, batched)
        at = wrap_dim(dim, ndim)
        value, source = batch.full(value, batched[0]), batch.full(source, batched[3])
        if not batched[2]:
            return op(value, at, index, source, *rest)
        if how == "reduce" or source.shape[at] != index.shape[1] or _sizes_but(value, at) != _sizes_but(source, at):
            return loop(batch, op, values, batched)
        places = _spread(batch, index, True, source.shape, at)
        if how == "add":
            source = source if rest[0] == 1 else source * rest[0]
            return value.scatter_add_(at, places, source) if op.mutates else value.scatter_add(at, places, source)
        return value.scatter_(at, places, source) if op.mutates else value.scatter(at, places, source)

    return run


def _sizes_but(value: Tensor, dim: int) -> list[int]:
    return [n for d, n in enumerate(value.shape) if d != dim]


@rule("index_fill")
def _index_fill(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
    value, dim, index, number = values
    ndim = value.ndim - batched[0]
    if not ndim or index.ndim - batched[2] != 1 or not value.numel():
        return loop(batch, op, values, batched)
    at = wrap_dim(dim, ndim)
    value = batch.full(value, batched[0])
    if not batched[2]:
        return op(value, at, index, number)
    places = _spread(batch, _ops.where(index < 0, index + value.shape[at], index), True, value.shape, at)
    return value.scatter_(at, places, number) if op.mutates else value.scatter(at, places, number)


@rule("take")
def _take(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, index = values
    if not batched[0]:
        return op(value, index)
    rows = value.unsqueeze(1) if value.ndim == 1 else value.flatten(1)
    places = batch.full(index, batched[1])
    places = _ops.where(places < 0, places + rows.shape[1], places)
    return rows.gather(1, places.reshape(batch.size, -1) if places.ndim != 2 else places).view(places.shape)


# -- lists of indices -----------------------------------------------------------------------------


def _is_mask(index: Tensor | None) -> bool:
    return index is not None and index.dtype in (_C.bool, _C.uint8)


def _place(indices: list[Any]) -> int | None:
    """Where the dimensions of the indices go in the result: where the first index stands, or None for the front, when they are apart."""
    used = [i for i, index in enumerate(indices) if index is not None]
    return used[0] if used[-1] - used[0] + 1 == len(used) else None


def _opened(indices: list[Any], batched: list[bool]) -> tuple[list[Any], list[bool], int]:
    """Masks as the indices of what they pick, batched indices padded to the largest rank, and that rank."""
    opened: list[Any] = []
    flags: list[bool] = []
    for index, flag in zip(indices, batched, strict=True):
        parts = index.nonzero().unbind(1) if _is_mask(index) else [index]
        opened += parts
        flags += [flag] * len(parts)
    ndim = max(i.ndim - b for i, b in zip(opened, flags, strict=True) if i is not None)
    return [padded(i, ndim) if b else i for i, b in zip(opened, flags, strict=True)], flags, ndim


@rule("index")
def _index(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, indices = values
    if any(_is_mask(i) and b for i, b in zip(indices, batched[1], strict=True)):
        raise RuntimeError(
            "vmap: We do not support batching operators that can support dynamic shape. A boolean mask picks another number of "
            "elements for each sample: use torch.where."
        )
    if any(_is_mask(i) and not i.ndim for i in indices):
        return loop(batch, op, values, batched)
    indices, flags, ndim = _opened(indices, batched[1])
    place = _place(indices)
    if not any(flags):
        # A slice in front; where indices are apart their dimensions come before it.
        result = op(value, [None, *indices])
        return result if place is not None else result.movedim(ndim, 0)
    if not batched[0]:
        result = op(value, indices)
        return result.movedim(place, 0) if place else result
    result = op(value, [_counter(batch, ndim, value), *indices])
    return _to_place(result, place, ndim)


def _counter(batch: Batch, ndim: int, like: Tensor) -> Tensor:
    """The number of the example, as an index of rank ndim + 1."""
    return _ops.arange(batch.size, device=like.device).view((batch.size, *(1,) * ndim))


def _to_place(result: Tensor, place: int | None, ndim: int) -> Tensor:
    """From (batch, indices, the rest) to (batch, dimensions before `place`, indices, the rest)."""
    if not place or not ndim:
        return result
    order = [0, *range(ndim + 1, ndim + 1 + place), *range(1, ndim + 1), *range(ndim + 1 + place, result.ndim)]
    return result.permute(order)


@rule("index_put")
def _index_put(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    target, indices, source, accumulate = values
    if any(_is_mask(i) and (b or not i.ndim) for i, b in zip(indices, batched[1], strict=True)):
        return loop(batch, op, values, batched)
    target = batch.full(target, batched[0])
    indices, _, ndim = _opened(indices, batched[1])
    place = _place(indices)
    given = sum([i is not None for i in indices])
    wanted = target.ndim - 1 - given + ndim  # rank of what is written in each example
    if source.ndim - batched[2] > wanted:
        return loop(batch, op, values, batched)
    if place and ndim:
        # What is written is laid out (batch, indices, the rest): bring the dimensions of the source in that order.
        source = padded(source, wanted) if batched[2] else source.view((*(1,) * (wanted - source.ndim), *source.shape))
        start = int(batched[2])
        order = [*range(start), *range(start + place, start + place + ndim), *range(start, start + place)]
        source = source.permute([*order, *range(start + place + ndim, source.ndim)])
    elif batched[2]:
        source = padded(source, wanted)
    return op(target, [_counter(batch, ndim, target), *indices], source, accumulate)


@rule("masked_select")
def _masked_select(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, mask = values
    if batched[1]:
        raise RuntimeError(
            "vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support this because for each batch this would "
            "return a differently shaped Tensor."
        )
    value = padded(value, mask.ndim)
    if value.ndim == 1:
        return loop(batch, op, values, batched)
    rows = value.expand(_broadcast(value.shape, mask.shape))
    mask = mask.expand(rows.shape[1:])
    return rows.flatten(1).index_select(1, mask.flatten().nonzero().flatten())


def _broadcast(shape: Any, mask: Any) -> tuple[int, ...]:
    """The shape of a batch whose examples are broadcast against a mask of no larger rank."""
    tail = len(mask)
    sizes = list(shape)
    for k in range(1, tail + 1):
        if sizes[-k] == 1:
            sizes[-k] = mask[-k]
    return tuple(sizes)


# -- embeddings -----------------------------------------------------------------------------------


def _own_rows(batch: Batch, indices: Tensor, count: int) -> Tensor:
    """Indices into the tables of all examples, laid one after the other; each has `count` rows."""
    return indices + _counter(batch, indices.ndim - 1, indices) * count


@rule("embedding")
def _embedding(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    weight, indices, padding, by_frequency, sparse = values
    if by_frequency or sparse or weight.ndim - batched[0] != 2:
        return loop(batch, op, values, batched)
    if not batched[0]:
        return op(*values)
    rows = weight.flatten(0, 1)
    indices = batch.full(indices, batched[1])
    result = _ops.embedding(rows, _own_rows(batch, indices, weight.shape[1]))
    if padding >= 0:  # the row that gets no gradient
        result = _ops.where((indices == padding).unsqueeze(-1), result.detach(), result)
    return result


@rule("embedding_backward")
def _embedding_backward(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    grad, indices, count, padding, by_frequency = values
    if by_frequency:
        return loop(batch, op, values, batched)
    grad, indices = batch.full(grad, batched[0]), batch.full(indices, batched[1])
    if padding >= 0:
        grad = grad.masked_fill((indices == padding).unsqueeze(-1), 0)
    result = op(grad, _own_rows(batch, indices, count), batch.size * count, -1, False)
    return result.view((batch.size, count, result.shape[-1]))


@rule("one_hot")
def _one_hot(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    if values[1] < 0:
        raise RuntimeError("When vmap-ing torch.nn.functional.one_hot, please provide an explicit positive num_classes argument.")
    return op(*values)
