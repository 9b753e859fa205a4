"""Normalisation: in a batch norm a batch is more channels, in a group norm more samples."""

from __future__ import annotations

from typing import Any

from retrograd._C import Tensor
from retrograd.func._batching import Batch, Flags, Values, loop, rule


@rule("batch_norm")
def _batch_norm(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
    input, *params, training, momentum, eps = values
    if input.ndim - batched[0] < 2 or batch.size == 0:
        return loop(batch, op, values, batched)
    running = [i for i in (3, 4) if values[i] is not None]
    if training and batched[0] and any(not batched[i] for i in running):
        raise RuntimeError(
            "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in place, were not batched.\n"
            "If you are using a module and do not need eval mode, please set `track_running_stats` to be False."
        )
    joined = batch.full(input, batched[0]).movedim(0, 1).flatten(1, 2)
    flat = [None if p is None else batch.full(p, b).reshape(-1) for p, b in zip(params, batched[1:5], strict=True)]
    results = op(joined, *flat, training, momentum, eps)
    for i in running if training else ():
        written = flat[i - 1]
        assert written is not None
        if not batched[i]:  # of an input that all samples share, so they agree
            values[i].copy_(written[: values[i].numel()])
        elif not values[i].is_contiguous():  # what was written is a copy
            values[i].copy_(written.view(values[i].shape))
    out, *statistics = results
    channels = joined.shape[1] // batch.size
    return (out.unflatten(1, (batch.size, channels)).movedim(1, 0), *(s.view(batch.size, channels) for s in statistics))


def _by_channel(value: Tensor, batched: bool, ndim: int) -> Tensor:
    """Elements for the channels of [batch, N, C, ...]."""
    shape = [1] * ndim
    shape[2] = value.shape[-1]
    if batched:
        shape[0] = value.shape[0]
    return value.reshape(shape)


@rule("group_norm")
def _group_norm(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
    input, weight, bias, n, channels, plane, groups, eps = values
    fits = all(p is None or tuple(p.shape[b:]) == (channels,) for p, b in ((weight, batched[1]), (bias, batched[2])))
    if input.ndim - batched[0] < 2 or not fits:
        return loop(batch, op, values, batched)
    full = batch.full(input, batched[0])
    inside = not batched[1] and not batched[2]
    given = (weight, bias) if inside else (None, None)
    out, *statistics = op(full.flatten(0, 1), *given, batch.size * n, channels, plane, groups, eps)
    out, statistics = out.view(full.shape), [s.view(batch.size, n, groups) for s in statistics]
    if not inside:
        if weight is not None:
            out = out * _by_channel(weight, batched[1], full.ndim)
        if bias is not None:
            out = out + _by_channel(bias, batched[2], full.ndim)
        out = out.to(input.dtype)
    return (out, *statistics)
