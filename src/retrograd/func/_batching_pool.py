"""Pooling: a batch of images is more images."""

from __future__ import annotations

from typing import Any

from retrograd.func._batching import Batch, Flags, Values, loop, place, rule, tensor_places

_SIZES = ("size", "input_size")  # of the whole result, which has the batch too


def _dims(op: Any, values: Values) -> int:
    return 2 if "2d" in op.name else 3 if "3d" in op.name else values[place(op, "dims")]


@rule("pool")
def _pool(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
    """Examples without a batch of their own become its examples, and with one more of them. Samples may be for more examples than there are."""
    places = tensor_places(op)
    names = [p.name for p in op.parameters]
    first = values[places[0]]
    rank = first.ndim - batched[places[0]]
    inner = rank - _dims(op, values) - 1
    if inner not in (0, 1) or batch.size == 0 or any(values[i].ndim - batched[i] != rank for i in places if names[i] != "random_samples"):
        return loop(batch, op, values, batched)
    examples = first.shape[int(batched[places[0]])] if inner else 1
    for i in places:
        value = batch.full(values[i], batched[i])
        if names[i] == "random_samples":
            if value.ndim != 4 or value.shape[1] < examples:
                return loop(batch, op, values, batched)
            value = value[:, :examples].flatten(0, 1)
        elif inner:
            value = value.flatten(0, 1)
        values[i] = value
    for i, name in enumerate(names):
        if name in _SIZES:
            values[i] = (batch.size * examples, *values[i][inner:])
    result = op(*values)
    if not inner:
        return result

    def apart(t: Any) -> Any:
        return t.unflatten(0, (batch.size, examples))

    return [apart(r) for r in result] if isinstance(result, (tuple, list)) else apart(result)
