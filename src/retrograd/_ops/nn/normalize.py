"""Normalisation."""

from __future__ import annotations

import math
from collections.abc import Sequence

import retrograd as torch
from retrograd import _C, Tensor
from retrograd._overridable import overridable


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """input / max(norm(input, p, dim), eps)."""
    norm = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / norm if out is None else torch.div(input, norm, out=out)


def layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Normalises the last dimensions to mean 0 and variance 1, then scales and shifts."""
    return _C._ops.layer_norm(input, normalized_shape, weight, bias, eps)


def _check_values(size: Sequence[int]) -> None:
    """Statistics of one value say nothing."""
    count = size[0]
    for n in size[2:]:
        count *= n
    if count == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {size}\n  The variance of one value is zero.\n"
            "  Hint: train with batches of two or more (DataLoader(..., drop_last=True) leaves out a last one that is smaller), or call model.eval() "
            "for predictions."
        )


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Brings each channel of [N, C, ...] to mean 0 and variance 1, then scales and shifts.

    Training moves the running statistics towards those of the batch by momentum; else they are used in their place.
    """
    if training:
        _check_values(input.shape)
    return _C._ops.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, True)


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Brings each channel of each sample of [N, C, ...] to mean 0 and variance 1, then scales and shifts."""
    if use_input_stats and math.prod(input.shape[2:]) == 1:
        raise ValueError(
            f"Expected more than 1 spatial element when training, got input size {input.shape}\n  The variance of one value is zero.\n"
            "  Hint: normalize where the images are larger, or over channels, with LayerNorm or GroupNorm."
        )
    return _C._ops.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True)


def group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """Brings each of num_groups groups of channels of a sample to mean 0 and variance 1, then scales and shifts each channel."""
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    if num_groups < 1 or input.numel() < 2 * num_groups:
        _check_values([input.shape[0] * input.shape[1] // num_groups, num_groups, *input.shape[2:]])
    return _C._ops.group_norm(input, num_groups, weight, bias, eps, True)


@overridable
def batch_norm_update_stats(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, momentum: float
) -> tuple[Tensor, Tensor]:
    """The mean and the biased variance of each channel, with which the running statistics are brought up to date."""
    dims, count = [d for d in range(input.dim()) if d != 1], input.numel() // max(input.size(1), 1)
    mean, var = input.mean(dims), input.var(dims, correction=0)
    with torch.no_grad():
        if running_mean is not None:
            running_mean.lerp_(mean.detach().to(running_mean.dtype), momentum)
        if running_var is not None:
            running_var.lerp_((var.detach() * (count / max(count - 1, 1))).to(running_var.dtype), momentum)
    return mean, var


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """input / (k + alpha * mean of squares over `size` neighbouring channels) ** beta."""
    if input.dim() < 3:
        raise ValueError(f"Expected 3D or higher dimensionality                          input (got {input.dim()} dimensions)")
    if input.numel() == 0:
        return input
    squares = _C._ops.pad(input * input, [0, 0] * (input.dim() - 2) + [size // 2, (size - 1) // 2])
    windows = squares.unfold(1, size, 1)
    # Of integers the mean is an integer, as in PyTorch.
    mean = windows.mean(-1) if windows.is_floating_point() or windows.is_complex() else windows.sum(-1) // size
    return input / (mean * alpha + k) ** beta


def cross_map_lrn2d(input: Tensor, size: int, alpha: float, beta: float, k: float) -> Tensor:
    """local_response_norm of images over a window with the channel in its middle, for which an even size is one too many.

    As in PyTorch, whose sums slide along and never let go of it, channel 0 belongs to every window.
    """
    if input.dim() != 4:
        raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
    reach = (size - 1) // 2
    squares = input * input
    sums = _C._ops.pad(squares, [0, 0, 0, 0, reach, reach]).unfold(1, 2 * reach + 1, 1).sum(-1)
    if input.shape[1] > reach + 1:
        sums = torch.cat([sums[:, : reach + 1], sums[:, reach + 1 :] + squares[:, :1]], 1)
    return input * (sums * (alpha / size) + k) ** -beta


def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """The norm over all dimensions but one, which stays; over all of them for dim=-1."""
    if dim == -1:
        return v.norm(pow)
    if v.dim() == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if not -v.dim() <= dim < v.dim():
        raise IndexError(f"Dimension out of range (expected to be in range of [{-v.dim()}, {v.dim() - 1}], but got {dim})")
    others = [d for d in range(v.dim()) if d != dim % v.dim()]
    return v.norm(pow, others, keepdim=True) if others else v.abs()
