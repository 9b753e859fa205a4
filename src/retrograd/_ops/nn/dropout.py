"""Dropout, of elements and of whole channels."""

from __future__ import annotations

import warnings

import retrograd as torch
from retrograd import Tensor


def _check_probability(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeroes elements with probability p while training, scaling the rest by 1 / (1 - p)."""
    _check_probability(p)
    return (torch.dropout_ if inplace else torch.dropout)(input, p, training)


def _dropout_nd(name: str, input: Tensor, dims: int, p: float, training: bool, inplace: bool) -> Tensor:
    _check_probability(p)
    if input.dim() not in (dims + 1, dims + 2):
        warnings.warn(
            f"{name}: Received a {input.dim()}-D input to {name}, which is deprecated. It expects {dims + 1}-D or {dims + 2}-D.",
            stacklevel=3,
        )
    batched = input if input.dim() == dims + 2 else input.unsqueeze(0)
    out = (torch.feature_dropout_ if inplace else torch.feature_dropout)(batched, p, training)
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
    """Zeroes whole channels of [N, C, H, W]; the first dimension of an input of three, [N, C, L], is the batch too."""
    _check_probability(p)
    ndim = input.dim()
    if ndim not in (3, 4):
        warnings.warn(
            f"dropout2d: Received a {ndim}-D input to dropout2d, which is deprecated and will be an error in PyTorch. It expects 4-D: "
            "dropout() drops elements, dropout1d() and dropout3d() channels of other inputs.",
            stacklevel=2,
        )
    if ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired, of [N, C, L]. "
            "dropout1d() says so; an image alone, [C, H, W], is unsqueeze(0) for dropout2d().",
            stacklevel=2,
        )
    return (torch.feature_dropout_ if inplace else torch.feature_dropout)(input, p, training)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeroes whole channels of [N, C, D, H, W] or [C, D, H, W]."""
    return _dropout_nd("dropout3d", input, 3, p, training, inplace)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout for selu networks: what is dropped becomes selu's negative limit, and mean and variance stay."""
    _check_probability(p)
    return (torch.alpha_dropout_ if inplace else torch.alpha_dropout)(input, p, training)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """alpha_dropout of whole channels."""
    _check_probability(p)
    return (torch.feature_alpha_dropout_ if inplace else torch.feature_alpha_dropout)(input, p, training)
