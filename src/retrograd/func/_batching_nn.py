"""Losses, normalisation and padding."""

from __future__ import annotations

from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.func._batching import Batch, Flags, Rule, Values, examples_like, loop, maker, padded, place, rule

_ops = _C._ops
_NONE, _MEAN = 0, 1


def _reduced(loss: Tensor, reduction: int) -> Tensor:
    """The loss of each example from that of its elements."""
    if reduction == _NONE:
        return loss
    if loss.ndim == 1:
        return loss
    dims = tuple(range(1, loss.ndim))
    return loss.mean(dims) if reduction == _MEAN else loss.sum(dims)


@maker("elementwise_loss")
def _elementwise_loss(op: Any, reduction: str) -> Rule:
    at = place(op, reduction)

    def run(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
        places = [i for i in range(at) if values[i] is not None]
        shapes = {tuple(values[i].shape[1:] if batched[i] else values[i].shape) for i in places[:2]}
        if len(shapes) != 1:
            return loop(batch, op, values, batched)  # the op warns of broadcasting, or refuses
        for i, value in zip(places, examples_like([values[i] for i in places], [batched[i] for i in places]), strict=True):
            values[i] = value
        for i in (0, 1):
            values[i] = batch.full(values[i], batched[i])
        how, values[at] = values[at], _NONE
        return _reduced(op(*values), how)

    return run


# -- negative log likelihood ----------------------------------------------------------------------


def _class_last(value: Tensor, examples: int) -> Tensor:
    """(batch, N, C, ...) to (batch, N, ..., C); (batch, C) stays."""
    return value.movedim(2, -1) if examples > 1 else value


def _picked(batch: Batch, target: Tensor, weight: Tensor | None, weight_batched: bool, ignore: int) -> tuple[Tensor, Tensor, Any]:
    """(targets that can be used as indices, which of them count, their weights or None)."""
    counts = target != ignore
    safe = _ops.where(counts, target, 0)
    if weight is None:
        return safe, counts, None
    table = batch.full(weight, weight_batched)
    chosen = table.gather(1, safe.reshape(batch.size, -1) if safe.ndim != 2 else safe).view(safe.shape)
    return safe, counts, chosen.masked_fill(counts.logical_not(), 0)


def _checked(values: Values, batched: Flags, first: int) -> bool:
    """Whether an example has the shapes of a loss: scores (C), (N, C) or (N, C, ...) and as many targets."""
    scores, target = (v.shape[1:] if b else v.shape for v, b in zip(values[first : first + 2], batched[first : first + 2], strict=True))
    if len(scores) == 1:
        return len(target) == 0
    return len(scores) > 1 and tuple(target) == (*scores[:1], *scores[2:])


@rule("nll_loss")
def _nll_loss(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
    scores, target, weight, reduction, ignore = values
    if not _checked(values, batched, 0):
        return loop(batch, op, values, batched)
    ndim = scores.ndim - batched[0]
    scores, target = _class_last(batch.full(scores, batched[0]), ndim), batch.full(target, batched[1])
    safe, counts, weights = _picked(batch, target, weight, batched[2], ignore)
    loss = -scores.gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    loss = loss.masked_fill(counts.logical_not(), 0) if weights is None else loss * weights
    if reduction == _NONE:
        return loss, scores.new_zeros((batch.size,))
    dims = tuple(range(1, loss.ndim))
    total = (counts.to(scores.dtype) if weights is None else weights).detach()
    if dims:
        loss, total = loss.sum(dims), total.sum(dims)
    return (loss / total if reduction == _MEAN else loss), total


@rule("nll_loss_backward")
def _nll_loss_backward(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    grad, scores, target, weight, reduction, ignore, total = values
    if not _checked(values, batched, 1):
        return loop(batch, op, values, batched)
    ndim = scores.ndim - batched[1]
    full = _class_last(batch.full(scores, batched[1]), ndim)
    target = batch.full(target, batched[2])
    safe, counts, weights = _picked(batch, target, weight, batched[3], ignore)
    grad = batch.full(grad, batched[0])
    if reduction == _MEAN:
        grad = grad / batch.full(total, batched[6])
    share = -padded_right(grad, safe.ndim)
    share = _ops.where(counts, share, 0) if weights is None else share * weights
    share = share.expand(safe.shape).unsqueeze(-1)
    result = full.new_zeros(full.shape).scatter(-1, safe.unsqueeze(-1), share.to(full.dtype))
    return result.movedim(-1, 2) if ndim > 1 else result


def padded_right(value: Tensor, ndim: int) -> Tensor:
    """A value with trailing dimensions of size 1, up to `ndim`."""
    return value.view((*value.shape, *(1,) * (ndim - value.ndim)))


# -- normalisation and padding --------------------------------------------------------------------


@rule("layer_norm")
def _layer_norm(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
    value, shape, weight, bias, eps = values
    if value.ndim - batched[0] < len(shape):
        return loop(batch, op, values, batched)
    value = batch.full(value, batched[0])
    if not batched[2] and not batched[3]:
        return op(value, shape, weight, bias, eps)
    for name, given, flag in (("weight", weight, batched[2]), ("bias", bias, batched[3])):
        if given is not None and tuple(given.shape[flag:]) != tuple(shape):
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape {list(given.shape[flag:])} and "
                f"normalized_shape = {list(shape)}"
            )
    result, mean, rstd = op(value, shape, None, None, eps)
    if weight is not None:
        result = result * (padded(weight, value.ndim - 1) if batched[2] else weight)
    if bias is not None:
        result = result + (padded(bias, value.ndim - 1) if batched[3] else bias)
    return result, mean, rstd


@rule("constant_pad")
def _constant_pad(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    return op(*values) if len(values[1]) <= 2 * (values[0].ndim - 1) else loop(batch, op, values, batched)
