"""Random numbers."""

from __future__ import annotations

from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.func._batching import Batch, Flags, Rule, Values, examples_like, maker, padded, place, rule

_ops = _C._ops


# The rules of random ops run also where nothing is batched, and make their results tensors of the level themselves.
#
# With randomness="different" an op draws the whole batch at once. With "same" it draws for one example, and the result is not batched.


def _different(batch: Batch) -> bool:
    """Whether examples get numbers of their own; an error where that was not said."""
    if batch.randomness == "error":
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode. Pass randomness='same' or 'different' to vmap, or draw "
            "outside it."
        )
    return batch.randomness == "different"


def _no_same(batched: bool) -> None:
    if batched:
        raise RuntimeError(
            "Vmap does not currently support same randomness with a batched tensor input. Pass randomness='different', or draw outside "
            "vmap."
        )


def _one(value: Tensor, batched: bool) -> Tensor:
    """Memory like that of one example."""
    return value.new_empty(value.shape[1:]) if batched else value


@maker("drawn")
def _factory(op: Any, size: str) -> Rule:
    """For an op that makes a tensor of the size that an argument says."""
    at = place(op, size)

    def run(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
        if not _different(batch):
            return op(*values)
        values[at] = (batch.size, *values[at])
        return batch.close(op(*values))

    return run


@rule("drawn_one_by_one")
def _randperm(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    if not _different(batch):
        return op(*values)
    if not batch.size:
        return batch.close(op(*values).new_empty((0, values[0])))
    return batch.close(_ops.stack([op(*values) for _ in range(batch.size)]))


@rule("drawn_like")
def _like(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    """Random numbers whose distribution does not depend on the tensor."""
    value, *rest = values
    if _different(batch):
        return batch.close(op(batch.full(value, batched[0]), *rest))
    return op(_one(value, batched[0]), *rest)


@rule("drawn_in_place")
def _inplace(batch: Batch, op: Any, values: Values, batched: Flags) -> None:
    target = values[0]
    by_tensor = len(values) > 1 and isinstance(values[1], Tensor)
    if _different(batch):
        if not batched[0]:
            raise RuntimeError(
                "vmap: Cannot ask for different inplace randomness on an unbatched tensor: all samples share it. Draw into a batched "
                "tensor, or pass randomness='same'."
            )
        if by_tensor and batched[1]:
            values[1] = padded(values[1], target.ndim - 1)
        op(*values)
        return
    if by_tensor:
        _no_same(batched[1])
    if batched[0]:
        values[0] = _one(target, True)
        target.copy_(op(*values))
    else:
        op(*values)


@rule("drawn_from_one")
def _drawn_from_one(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    if _different(batch):
        return batch.close(op(batch.full(values[0], batched[0]), *values[1:]))
    _no_same(batched[0])
    return op(*values)


@rule("drawn_rows")
def _drawn_rows(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    """The same for rows: an example that is a number is a row of one."""
    if values[0].ndim > batched[0]:
        return _drawn_from_one(batch, op, values, batched)
    values[0] = values[0].unsqueeze(-1)
    return _drawn_from_one(batch, op, values, batched).squeeze(-1)


@rule("drawn_normal")
def _normal(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    places = [i for i in (0, 1) if isinstance(values[i], Tensor)]
    if not _different(batch):
        _no_same(any(batched))
        return op(*values)
    full = [batch.full(values[i], batched[i]) for i in places]
    for i, value in zip(places, examples_like(full, [True] * len(full)), strict=True):
        values[i] = value
    return batch.close(op(*values))


@rule("multinomial")
def _multinomial(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, *rest = values
    if not _different(batch):
        _no_same(batched[0])
        return op(*values)
    value = batch.full(value, batched[0])
    if value.ndim not in (2, 3):
        raise RuntimeError(f"prob_dist must be 1 or 2 dim, got {value.ndim - 1}")
    drawn = op(value.flatten(0, -2), *rest)
    return batch.close(drawn.view((*value.shape[:-1], drawn.shape[-1])))


@rule("dropout")
def _native_dropout(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
    value, p, train = values
    if train is False:
        return batch.close(op(value, p, train), 0 if batched[0] else None)
    if _different(batch):
        return batch.close(op(batch.full(value, batched[0]), p, train))
    scale, mask = op(_ops.ones_like(_one(value, batched[0])), p, train)
    result = value * scale
    return (batch.close(result) if batched[0] else result), mask
