"""The cross entropy of a linear layer's result, of which only some rows exist at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import retrograd as torch
from retrograd import Tensor
from retrograd._ops.nn.losses import _REDUCTIONS, _reduction, cross_entropy

if TYPE_CHECKING:
    from retrograd.nn.modules.linear_cross_entropy_options import LinearCrossEntropyOptions


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: LinearCrossEntropyOptions | None = None,
) -> Tensor:
    """cross_entropy(linear(input, linear_weight, linear_bias), target). With options the logits are computed some rows at a time, and again for the
    gradient, so that all of them never exist together.

    Args:
        input: [in_features] or [N, in_features].
        linear_weight: [C, in_features], or [C, d1, ..., dK, in_features] for a target of [N, d1, ..., dK].
        target: classes, or probabilities of the shape of the logits.
    """
    _check(input, linear_weight, linear_bias)
    if target.is_floating_point() and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    ignored = -100 if ignore_index is None else ignore_index
    if options is None or input.dim() == 1:
        logits = _logits(input, linear_weight, linear_bias)
        return cross_entropy(logits, target, weight, ignore_index=ignored, reduction=reduction, label_smoothing=label_smoothing)
    how = _reduction(reduction)
    count, classes = input.size(0), linear_weight.size(0)
    if target.dim() == 0 or target.size(0) != count:
        got = target.size(0) if target.dim() else 0
        raise ValueError(f"Expected input batch_size ({count}) to match target batch_size ({got}).")
    exact = options._dtype_of_sums(input.dtype)
    given = input.dtype
    if exact is not None:  # once for all rows, so that gradients are summed in it too
        input, linear_weight = input.to(exact), linear_weight.to(exact)
        linear_bias, weight = (None if t is None else t.to(exact) for t in (linear_bias, weight))
        target = target.to(exact) if target.is_floating_point() else target
    from retrograd.utils.checkpoint import checkpoint  # not what importing the package should wait for

    each = "none" if how == _REDUCTIONS["none"] else "sum"

    def part(rows: Tensor, table: Tensor, bias: Tensor | None, wanted: Tensor, factors: Tensor | None) -> Tensor:
        logits = _logits(rows, table, bias)
        return cross_entropy(logits, wanted, factors, ignore_index=ignored, reduction=each, label_smoothing=label_smoothing)

    step = options._rows_at_once(count, linear_weight.size(-1), linear_weight.numel() // max(linear_weight.size(-1), 1))
    starts = range(0, max(count, 1), step)
    losses = []
    for start in starts:
        parts = (input[start : start + step], linear_weight, linear_bias, target[start : start + step], weight)
        again = torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in parts)
        losses.append(checkpoint(part, *parts, use_reentrant=False) if again and len(starts) > 1 else part(*parts))
    if each == "none":
        return (torch.cat(losses) if len(losses) > 1 else losses[0]).to(given)
    total = losses[0] if len(losses) == 1 else torch.stack(losses).sum()
    if how == _REDUCTIONS["mean"]:
        total = total / _counted(
            target, weight, ignored, count * (linear_weight.numel() // max(linear_weight.size(-1), 1)) // max(classes, 1)
        )
    return total.to(given)


def _logits(rows: Tensor, table: Tensor, bias: Tensor | None) -> Tensor:
    """[N, C], or [N, C, d1, ..., dK]."""
    if table.dim() == 2:
        return torch.nn.functional.linear(rows, table, bias)
    flat = torch.nn.functional.linear(rows, table.flatten(0, -2), None if bias is None else bias.flatten())
    return flat.reshape((*rows.shape[:-1], *table.shape[:-1]))


def _counted(target: Tensor, weight: Tensor | None, ignored: int, places: int) -> Tensor | int:
    """What a mean divides by: how many targets count, by their weights; of probabilities all."""
    if target.is_floating_point():
        return places
    kept = target != ignored
    if weight is None:
        return kept.sum()
    return torch.where(kept, weight[torch.where(kept, target, 0)], 0).sum()


def _check(input: Tensor, linear_weight: Tensor, linear_bias: Tensor | None) -> None:
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if linear_weight.dim() < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {linear_weight.dim()}")
    if linear_weight.dim() > 2 and input.dim() == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} requires batched input, (N, {input.size(-1)}), got "
            f"unbatched input with shape {tuple(input.shape)}"
        )
    if input.size(-1) != linear_weight.size(-1):
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.size(-1)} and {linear_weight.size(-1)}, respectively"
        )
    if linear_bias is not None and linear_bias.shape != linear_weight.shape[:-1]:
        raise RuntimeError(f"expected linear_bias shape {tuple(linear_weight.shape[:-1])}, got {tuple(linear_bias.shape)}")
