"""Convolutions: a batch of inputs is a larger batch, a batch of weights more groups."""

from __future__ import annotations

from typing import Any

from retrograd._C import Tensor
from retrograd.func._batching import Batch, Flags, Values, loop, rule


def _into(value: Tensor, dim: int) -> Tensor:
    """The batch, dimension 0, as the slower part of `dim` of the examples."""
    return value.movedim(0, dim).flatten(dim, dim + 1)


def _out_of(value: Tensor, dim: int, size: int) -> Tensor:
    """The batch taken out of `dim` again."""
    return value.unflatten(dim, (size, value.shape[dim] // size)).movedim(dim, 0)


def _fits(values: Values, batched: Flags, places: tuple[int, int], groups: int) -> bool:
    """Whether examples have the dimensions of a convolution; what has not is the op's to refuse."""
    ranks = {values[i].ndim - batched[i] for i in places}
    return len(ranks) == 1 and min(ranks) >= 3 and groups > 0


@rule("convolution")
def _convolution(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    input, weight, bias, *numbers, groups = values
    if batch.size == 0 or not _fits(values, batched, (0, 1), groups):
        return loop(batch, op, values, batched)
    first = None if batched[1] or batched[2] else bias
    if batched[1]:
        result = op(_into(batch.full(input, batched[0]), 1), _into(weight, 0), first, *numbers, groups * batch.size)
        result = _out_of(result, 1, batch.size)
    elif batched[0]:
        result = _out_of(op(_into(input, 0), weight, first, *numbers, groups), 0, batch.size)
    else:
        result = op(input, weight, first, *numbers, groups)
    if bias is None or first is not None:
        return result
    ones = (1,) * (weight.ndim - batched[1] - 2)
    return result + (bias.reshape(batch.size, 1, -1, *ones) if batched[2] else bias.reshape(-1, *ones))


@rule("convolution_input")
def _convolution_input(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    grad, weight, size, *numbers, groups = values
    if batch.size == 0 or not _fits(values, batched, (0, 1), groups):
        return loop(batch, op, values, batched)
    if not batched[1]:
        return _out_of(op(_into(grad, 0), weight, (size[0] * batch.size, *size[1:]), *numbers, groups), 0, batch.size)
    size = (size[0], size[1] * batch.size, *size[2:])
    return _out_of(op(_into(batch.full(grad, batched[0]), 1), _into(weight, 0), size, *numbers, groups * batch.size), 1, batch.size)


@rule("convolution_weight")
def _convolution_weight(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    grad, input, size, *numbers, groups = values
    if batch.size == 0 or not _fits(values, batched, (0, 1), groups):
        return loop(batch, op, values, batched)
    grad, input = _into(batch.full(grad, batched[0]), 1), _into(batch.full(input, batched[1]), 1)
    return _out_of(op(grad, input, (size[0] * batch.size, *size[1:]), *numbers, groups * batch.size), 0, batch.size)


@rule("folding")
def _folding(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, *numbers = values
    last = 3 if op.name == "im2col" else 2  # dimensions of an example without a batch of its own
    if value.ndim == last + 1:
        return op(*values)
    if value.ndim != last + 2 or value.shape[1] == 0:
        return loop(batch, op, values, batched)
    return _out_of(op(_into(value, 0), *numbers), 0, batch.size)
