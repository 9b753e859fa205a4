"""Functions of nn.functional under the names they have in torch, where a reduction is a number (0: none, which is the default, 1: mean, 2: sum)."""

from __future__ import annotations

from collections.abc import Sequence

import retrograd as torch
from retrograd import _C, Tensor
from retrograd._ops.nn import activations, losses
from retrograd._ops.out import written

_REDUCTIONS = ("none", "mean", "sum")


def _reduction(number: int) -> str:
    return _REDUCTIONS[number] if 0 < number < 3 else "none"  # as PyTorch takes it


def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0) -> Tensor:
    """1 - cosine where the target is 1, the cosine beyond the margin where it is -1."""
    return losses.cosine_embedding_loss(input1, input2, target, margin, reduction=_reduction(reduction))


def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 0) -> Tensor:
    """The input where the target is 1, what the margin exceeds it by where it is -1."""
    return losses.hinge_embedding_loss(input, target, margin, reduction=_reduction(reduction))


def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0) -> Tensor:
    """What input1 lacks to exceed input2 by the margin, or the other way round where the target is -1."""
    return losses.margin_ranking_loss(input1, input2, target, margin, reduction=_reduction(reduction))


def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int) -> Tensor:
    """The negative log likelihood of counts."""
    return losses.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=_reduction(reduction))


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 0,
) -> Tensor:
    """What the distance to the negative lacks to exceed that to the positive by the margin."""
    return losses.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=_reduction(reduction))


def rrelu(input: Tensor, lower: float = 0.125, upper: float = 1 / 3, training: bool = False) -> Tensor:
    """leaky_relu with a slope drawn for each element that is not positive while training, else the mean slope."""
    return activations.rrelu(input.contiguous(), lower, upper, training)


def frobenius_norm(input: Tensor, dim: int | Sequence[int], keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The root of the sum of squares, over one dimension or two; over all for none."""
    dims = [dim] if isinstance(dim, int) else list(dim)
    if len(dims) > 2:
        raise RuntimeError(f"Expected at most 2 dimensions, but got {len(dims)} dimensions instead.")
    norm = _C._ops.linalg_vector_norm(input, 2, dims or None, keepdim)
    return norm if out is None else written(norm, out)


def nuclear_norm(input: Tensor, dim: Sequence[int] | bool | None = None, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """The sum of the singular values, of a matrix or of those that two dimensions hold."""
    if dim is None or isinstance(dim, bool):  # nuclear_norm(input, keepdim)
        norm = torch.linalg.matrix_norm(input, "nuc", (-2, -1), keepdim or bool(dim))
    else:
        norm = torch.linalg.matrix_norm(input, "nuc", (dim, dim) if isinstance(dim, int) else tuple(dim), keepdim)
    return norm if out is None else written(norm, out)
