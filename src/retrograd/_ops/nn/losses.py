"""The loss functions of nn.functional."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import retrograd as torch
from retrograd import _C, Tensor
from retrograd._batched import whole
from retrograd._overridable import autocast

_ops = _C._ops
_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


_WORDS = "{} is not a valid value for reduction"
_MODES = "Invalid reduction mode: {}. Expected one of 'none', 'mean', 'sum'."


def _reduction(reduction: str, size_average: bool | None = None, reduce: bool | None = None, words: str = _WORDS) -> int:
    """The table's integer for a reduction; size_average and reduce are the names it had long ago."""
    if size_average is not None or reduce is not None:
        return _REDUCTIONS[older_reduction(size_average, reduce)]
    try:
        return _REDUCTIONS[reduction]
    except (KeyError, TypeError):
        raise ValueError(words.format(reduction)) from None


def older_reduction(size_average: bool | None, reduce: bool | None, warn: bool = True) -> str:
    """The reduction that its older names ask for."""
    apart, sums = (flag is not None and not flag for flag in (reduce, size_average))
    chosen = "none" if apart else "sum" if sums else "mean"
    if warn:
        warnings.warn(f"size_average and reduce args will be deprecated, please use reduction='{chosen}' instead.", stacklevel=4)
    return chosen


def _reduced(loss: Tensor, reduction: int) -> Tensor:
    return loss.mean() if reduction == 1 else loss.sum() if reduction == 2 else loss


def _broadcast(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Two tensors of different shapes as ones of the same."""
    warnings.warn(
        f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). This will likely lead to "
        "incorrect results due to broadcasting. Give both the same size.",
        stacklevel=3,
    )
    input, target = torch.broadcast_tensors(input, target)
    return input, target


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Cross entropy between logits and classes, or probabilities of the same shape."""
    return _ops.cross_entropy_loss(input, target, weight, _reduction(reduction, size_average, reduce), ignore_index, label_smoothing)


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Negative log likelihood of classes under log-probabilities."""
    return _ops.nll_loss(input, target, weight, _reduction(reduction, size_average, reduce), ignore_index)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """-log of the likelihood that frames of log-probabilities spell the targets, over all alignments with blanks between the labels.

    Args:
        log_probs: [T, N, C], or [T, C] for one sequence.
        targets: [N, S], or all labels one after the other.
        input_lengths, target_lengths: of each sequence; tensors or tuples.
        zero_infinity: a target that is too long for its frames, whose loss is infinite, counts as 0, with a gradient of 0.
    """
    return _ops.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, _reduction(reduction), zero_infinity)


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Squared error."""
    how = _reduction(reduction, size_average, reduce, _WORDS if weight is None else _MODES)
    if input.shape != target.shape:
        input, target = _broadcast(input, target)
    return _ops.mse_loss(input, target, how) if weight is None else _weighted(_ops.mse_loss(input, target, 0), weight, how)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Absolute error."""
    how = _reduction(reduction, size_average, reduce, _WORDS if weight is None else _MODES)
    if input.shape != target.shape:
        input, target = _broadcast(input, target)
    return _ops.l1_loss(input, target, how) if weight is None else _weighted(_ops.l1_loss(input, target, 0), weight, how)


def _times(loss: Tensor, weight: Tensor) -> Tensor:
    if weight.size() != loss.size():
        raise ValueError(f"Weights and input must have the same size. Got {list(weight.shape)} and {list(loss.shape)}.")
    return loss * weight


def _weighted(loss: Tensor, weight: Tensor, reduction: int) -> Tensor:
    """Elements times their weights; the mean is over the sum of weights."""
    loss = _times(loss, weight)
    return loss.sum() / weight.sum() if reduction == 1 else _reduced(loss, reduction)


def smooth_l1_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean", beta: float = 1.0
) -> Tensor:
    """Squared error below beta, absolute error above."""
    how = _reduction(reduction, size_average, reduce)
    if input.shape != target.shape:
        input, target = _broadcast(input, target)
    return _ops.l1_loss(input, target, how) if beta == 0.0 else _ops.smooth_l1_loss(input, target, how, beta)


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None) -> Tensor:
    """Half the squared error below delta, linear above."""
    how = _reduction(reduction, words=_WORDS if weight is None else _MODES)
    if input.shape != target.shape:
        input, target = _broadcast(input, target)
    if weight is None:
        return _ops.huber_loss(input, target, how, delta)
    return _reduced(_times(_ops.huber_loss(input, target, 0, delta), weight), how)  # unlike its siblings, a plain mean


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Cross entropy between probabilities and targets in [0, 1]."""
    how = _reduction(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is deprecated. Give both the "
            "same size."
        )
    if weight is not None:
        weight = weight.expand(input.shape)
    return _ops.binary_cross_entropy(input, target, weight, how)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Cross entropy between logits and targets in [0, 1]."""
    how = _reduction(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    return _ops.binary_cross_entropy_with_logits(input, target, weight, pos_weight, how)


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """Kullback-Leibler divergence of log-probabilities from probabilities (log_target: from log-probabilities)."""
    batch = reduction == "batchmean"
    if reduction == "mean" and size_average is None and reduce is None:
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size. 'batchmean' divides only by the "
            "batch size, "
            "and aligns with the KL div math definition.",
            stacklevel=2,
        )
    loss = _ops.kl_div(input, target, 2 if batch else _reduction(reduction, size_average, reduce), log_target=log_target)
    return loss / input.size(0) if batch and input.dim() else loss


def soft_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """log(1 + exp(-target * input))."""
    return _ops.soft_margin_loss(input, target, _reduction(reduction, size_average, reduce))


@autocast("float32")
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Negative log likelihood of counts under a Poisson rate (or its logarithm)."""
    how = _reduction(reduction, size_average, reduce)
    loss = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:  # Stirling's approximation of log(target!)
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        loss = loss + torch.where(target <= 1, torch.zeros_like(stirling), stirling)
    return _reduced(loss, how)


def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Tensor | float, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """Negative log likelihood of targets under a Gaussian with the given mean and variance."""
    if isinstance(var, (int, float)):
        if var < 0:
            raise ValueError(
                f"var has negative entry/entries: {var}. A variance is not negative: use softplus() or exp() of what a model gives."
            )
        var = torch.full_like(input, float(var))
    elif torch.any(whole(var) < 0):
        raise ValueError("var has negative entry/entries. A variance is not negative: use softplus() or exp() of what a model gives.")
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = var.unsqueeze(-1)
        elif not (input.size()[:-1] == var.size()[:-1] and var.size(-1) == 1):
            raise ValueError(f"var is of incorrect size: {list(var.shape)} for an input of {list(input.shape)}")
    how = _reduction(reduction, words="{} is not valid")
    value = var.detach()
    var = var + (value.clamp(min=eps) - value)  # the floor of the variance is not part of the graph
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return _reduced(loss, how)


def _margin(name: str, position: int, margin: Any) -> float:
    """A margin as a float, which integers and bools are beside a loss too."""
    count = margin.numel() if isinstance(margin, Tensor) else getattr(margin, "size", 1)
    if count != 1 or not hasattr(margin, "__float__"):
        raise TypeError(f"{name}(): argument 'margin' (position {position}) must be float, not {type(margin).__name__}")
    return float(margin)


@autocast("float32")
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """input where target is 1, max(0, margin - input) where it is -1."""
    how = _reduction(reduction, size_average, reduce)
    margin = _margin("hinge_embedding_loss", 3, margin)
    zero = torch.zeros((), dtype=input.dtype, device=input.device)
    loss = torch.where(target == 1, zero, (margin - input).clamp_min(0)) + torch.where(target == -1, zero, input)
    return _reduced(loss, how)


@autocast("float32")
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """1 - cosine where target is 1, max(0, cosine - margin) where it is -1."""
    how = _reduction(reduction, size_average, reduce)
    margin = _margin("cosine_embedding_loss", 4, margin)
    wanted = target.dim() + 1
    if wanted > 2:
        raise RuntimeError(f"0D or 1D target tensor expected, multi-target not supported, got a target of shape {list(target.shape)}")
    if input1.dim() != wanted or input2.dim() != wanted:
        raise RuntimeError(
            f"{wanted - 1}D target tensor expects {wanted}D input tensors, but found inputs with sizes {list(input1.shape)} and "
            f"{list(input2.shape)}."
        )
    dim = target.dim()
    epsilon = 1e-12
    product = (input1 * input2).sum(dim)
    squares = ((input1 * input1).sum(dim) + epsilon) * ((input2 * input2).sum(dim) + epsilon)
    cosine = product / squares.sqrt()
    zero = torch.zeros_like(cosine)
    loss = torch.where(target == 1, 1 - cosine, zero) + torch.where(target == -1, (cosine - margin).clamp_min(0), zero)
    return _reduced(loss, how)


@autocast("float32")
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, -target * (input1 - input2) + margin)."""
    how = _reduction(reduction, size_average, reduce)
    margin = _margin("margin_ranking_loss", 4, margin)
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return _reduced((-target * (input1 - input2) + margin).clamp_min(0), how)


@autocast("float32")
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Mean over classes of max(0, margin - input[target] + input[i]) ** p, i other than target."""
    how = _reduction(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError(f"only p == 1 and p == 2 supported, got p={p}")
    if not (isinstance(margin, (bool, complex)) or hasattr(margin, "__float__")):
        raise TypeError(f"multi_margin_loss(): argument 'margin' (position 4) must be Number, not {type(margin).__name__}")
    margin = int(margin) if isinstance(margin, bool) else margin  # of a bool nothing can be subtracted
    rows = input.reshape(1, -1) if input.dim() < 2 else input
    wanted = target.reshape(-1, 1)
    gap = (margin - rows.gather(1, wanted) + rows).clamp_min(0)
    if p == 2:
        gap = gap * gap
    if weight is not None:
        gap = gap * weight[wanted]
    loss = gap.scatter(1, wanted, 0.0).sum(1) / rows.size(1)
    return _reduced(loss.reshape(target.shape), how)


@autocast("float32")
def multilabel_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """Sum over targets j and others i of max(0, 1 - (input[j] - input[i])), over the number of classes; a row of targets ends at -1."""
    how = _reduction(reduction, size_average, reduce)
    rows, labels = (
        t.unsqueeze(0) if t.dim() < 2 else t
        for t in (input.reshape(-1) if input.dim() == 0 else input, target.reshape(-1) if target.dim() == 0 else target)
    )
    valid = (labels >= 0).cumprod(1).bool()
    at = labels.clamp_min(0)
    is_target = torch.zeros(rows.shape, dtype=rows.dtype, device=rows.device).scatter_add(1, at, valid.to(rows.dtype)) > 0
    gap = (1 - rows.gather(1, at).unsqueeze(2) + rows.unsqueeze(1)).clamp_min(0)  # [row, target j, class i]
    counted = valid.unsqueeze(2) & ~is_target.unsqueeze(1)
    loss = torch.where(counted, gap, torch.zeros_like(gap)).sum((1, 2)) / rows.size(1)
    return _reduced(loss if input.dim() > 1 else loss.reshape(()), how)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Mean over classes of the binary cross entropy of logits with targets."""
    how = _reduction(reduction, size_average, reduce, "{} is not valid")
    loss = -(target * _ops.log_sigmoid(input) + (1 - target) * _ops.log_sigmoid(-input))
    if weight is not None:
        loss = loss * weight
    return _reduced(loss.sum(input.dim() - 1) / input.size(input.dim() - 1), how)


def _check_margin(margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")


@autocast("float32")
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin)."""
    how = _reduction(reduction, size_average, reduce)
    _check_margin(margin)
    _check_ndims(anchor, positive, negative)

    def distance(a: Tensor, b: Tensor) -> Tensor:
        return torch.pairwise_distance(a, b, p, eps)

    return _triplet(anchor, positive, negative, distance, margin, swap, how)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """triplet_margin_loss with any distance."""
    how = _reduction(reduction)
    _check_margin(margin)
    _check_ndims(anchor, positive, negative)
    return _triplet(anchor, positive, negative, distance_function or torch.pairwise_distance, margin, swap, how)


def _check_ndims(anchor: Tensor, positive: Tensor, negative: Tensor) -> None:
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D inputs"
        )


def _triplet(
    anchor: Tensor, positive: Tensor, negative: Tensor, distance: Callable[..., Tensor], margin: float, swap: bool, how: int
) -> Tensor:
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = torch.minimum(far, distance(positive, negative))
    return _reduced((margin + near - far).clamp_min(0), how)
