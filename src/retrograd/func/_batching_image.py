"""Images: a batch of batches is a larger batch."""

from __future__ import annotations

from typing import Any

from retrograd._C import Tensor
from retrograd.func._batching import Batch, Flags, Values, loop, rule


def _is_images(value: Tensor) -> bool:
    return 4 <= value.ndim <= 6


@rule("resize")
def _resize(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, *rest = values
    if not _is_images(value):
        return loop(batch, op, values, batched)
    return op(value.flatten(0, 1), *rest).unflatten(0, (batch.size, value.shape[1]))


@rule("resize_backward")
def _resize_backward(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    grad, size, *rest = values
    if not _is_images(grad):
        return loop(batch, op, values, batched)
    return op(grad.flatten(0, 1), (size[0] * batch.size, *size[1:]), *rest).unflatten(0, (batch.size, size[0]))


@rule("grid_sampler")
def _grid_sampler(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    input, grid, *numbers = values
    if not batched[1] and input.ndim >= 4:  # at the same points: more channels
        result = op(input.movedim(0, 1).flatten(1, 2), grid, *numbers)
        return result.unflatten(1, (batch.size, input.shape[2])).movedim(1, 0)
    input, grid = batch.full(input, batched[0]), batch.full(grid, batched[1])
    if input.ndim < 5 or grid.ndim < 4 or input.shape[1] != grid.shape[1]:
        return loop(batch, op, values, batched)
    return op(input.flatten(0, 1), grid.flatten(0, 1), *numbers).unflatten(0, (batch.size, input.shape[1]))


@rule("pad_around")
def _pad_around(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, padding, *rest = values
    dims = len(padding) // 2
    if value.ndim == dims + 2:  # examples without a batch of their own
        return op(value, padding, *rest)
    if value.ndim != dims + 3:
        return loop(batch, op, values, batched)
    return op(value.flatten(0, 1), padding, *rest).unflatten(0, (batch.size, value.shape[1]))


@rule("pad_around_backward")
def _pad_around_backward(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    grad, size, padding, *rest = values
    if len(size) == len(padding) // 2 + 1:
        return op(grad, (batch.size, *size), padding, *rest)
    return op(grad.flatten(0, 1), (size[0] * batch.size, *size[1:]), padding, *rest).unflatten(0, (batch.size, size[0]))
