"""Dropout, of elements and of whole channels."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import retrograd as torch
from retrograd import Tensor


def _check_probability(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _kept(input: Tensor, p: float, shape: Sequence[int]) -> Tensor:
    """Ones with probability 1 - p, else zeros. Where each element has one they are drawn in the order of the input's memory."""
    order = list(range(len(shape)))
    if not input.is_contiguous() and tuple(shape) == tuple(input.shape):
        strides = torch.empty_like(input).stride()
        order.sort(key=lambda d: -strides[d])
    mask = torch.bernoulli(torch.empty([shape[d] for d in order], dtype=input.dtype, device=input.device), 1.0 - p)
    return mask if order == sorted(order) else mask.permute([order.index(d) for d in range(len(order))])


def _dropped(input: Tensor, p: float, shape: Sequence[int], training: bool, inplace: bool) -> Tensor:
    """input with elements (of the broadcast `shape`) zeroed with probability p and the rest scaled up."""
    if not training or p == 0 or input.numel() == 0:
        return input
    # What is certain takes no random number.
    mask = _kept(input, p, shape).div_(1.0 - p) if p < 1 else torch.zeros(shape, dtype=input.dtype, device=input.device)
    return input.mul_(mask) if inplace else input * mask


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeroes elements with probability p while training, scaling the rest by 1 / (1 - p)."""
    _check_probability(p)
    return _dropped(input, p, input.shape, training, inplace)


def _feature_shape(input: Tensor) -> list[int]:
    return [n if d < 2 else 1 for d, n in enumerate(input.shape)]


def _dropout_nd(name: str, input: Tensor, dims: int, p: float, training: bool, inplace: bool) -> Tensor:
    _check_probability(p)
    if input.dim() not in (dims + 1, dims + 2):
        warnings.warn(
            f"{name}: Received a {input.dim()}-D input, which is deprecated. It expects {dims + 1}-D or {dims + 2}-D.", stacklevel=3
        )
    batched = input if input.dim() == dims + 2 else input.unsqueeze(0)
    out = _dropped(batched, p, _feature_shape(batched), training, inplace)
    return out if input.dim() == dims + 2 else out.squeeze(0)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeroes whole channels of [N, C, L] or [C, L]."""
    _check_probability(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Pass (C, L) or (N, C, L): whole channels are "
            "dropped."
        )
    return _dropout_nd("dropout1d", input, 1, p, training, inplace)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeroes whole channels of [N, C, H, W] or [C, H, W]."""
    _check_probability(p)
    return _dropped(input, p, _feature_shape(input), training, inplace)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeroes whole channels of [N, C, D, H, W] or [C, D, H, W]."""
    return _dropout_nd("dropout3d", input, 3, p, training, inplace)


def _alpha_dropped(input: Tensor, p: float, shape: Sequence[int], training: bool, inplace: bool) -> Tensor:
    """Dropout that keeps the mean and variance of selu's outputs: dropped elements become its negative limit."""
    _check_probability(p)
    if not training or p == 0 or input.numel() == 0:
        return input
    if p == 1:
        return input.mul_(0) if inplace else input * 0
    limit = -1.7580993408473766
    scale = 1.0 / math.sqrt((1 - p) * (1 + p * limit * limit))
    keep = _kept(input, p, shape)
    shift = (1 - keep) * (scale * limit) - scale * limit * p
    keep = keep * scale
    return input.mul_(keep).add_(shift) if inplace else input * keep + shift


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout for selu networks."""
    return _alpha_dropped(input, p, input.shape, training, inplace)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """alpha_dropout of whole channels."""
    return _alpha_dropped(input, p, _feature_shape(input), training, inplace)
