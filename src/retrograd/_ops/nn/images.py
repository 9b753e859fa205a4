"""Images: pixels and channels in another order, and where to sample."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import retrograd as torch
from retrograd import Tensor

_NEW = torch.contiguous_format  # results have memory of their own, also where the order stays


def _channels_last(input: Tensor) -> bool:
    return input.dim() == 4 and not input.is_contiguous() and input.is_contiguous(memory_format=torch.channels_last)


def _check_image(name: str, input: Tensor, what: str, factor: int) -> None:
    if input.dim() < 3:
        raise RuntimeError(f"{name} expects input to have at least 3 dimensions, but got input with {input.dim()} dimension(s)")
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {what}, but got {factor}")


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """[*, C r^2, H, W] as [*, C, H r, W r]."""
    r = upscale_factor
    _check_image("pixel_shuffle", input, "upscale_factor", r)
    *batch, channels, height, width = input.shape
    if channels % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
            f"input.size(-3)={channels} is not divisible by {r * r}"
        )
    kept, out = channels // (r * r), (*batch, channels // (r * r), height * r, width * r)
    d = len(batch)
    if _channels_last(input):  # the same with the channels last in memory, and one copy
        parts = input.permute(0, 2, 3, 1).reshape(*batch, height, width, kept, r, r)
        return parts.permute(0, 1, 4, 2, 5, 3).clone(memory_format=_NEW).view(*batch, height * r, width * r, kept).permute(0, 3, 1, 2)
    parts = input.reshape(*batch, kept, r, r, height, width)
    return parts.permute(*range(d), d, d + 3, d + 1, d + 4, d + 2).clone(memory_format=_NEW).view(out)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """[*, C, H r, W r] as [*, C r^2, H, W]."""
    r = downscale_factor
    _check_image("pixel_unshuffle", input, "downscale_factor", r)
    *batch, channels, height, width = input.shape
    for name, at, size in (("height", -2, height), ("width", -1, width)):
        if size % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({at})={size} is not divisible by {r}"
            )
    height, width, d = height // r, width // r, len(batch)
    if _channels_last(input):
        parts = input.permute(0, 2, 3, 1).reshape(*batch, height, r, width, r, channels)
        return parts.permute(0, 1, 3, 5, 2, 4).clone(memory_format=_NEW).view(*batch, height, width, channels * r * r).permute(0, 3, 1, 2)
    parts = input.reshape(*batch, channels, height, r, width, r)
    return parts.permute(*range(d), d, d + 2, d + 4, d + 1, d + 3).clone(memory_format=_NEW).view(*batch, channels * r * r, height, width)


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """The channels (dim 1), taken in turn from each of `groups` groups of neighbours."""
    if input.dim() <= 2:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.shape)}")
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    channels = input.size(1)
    if channels % groups:
        raise RuntimeError(f"Number of channels must be divisible by groups. Got {channels} channels and {groups} groups.")
    if _channels_last(input):
        parts = input.permute(0, 2, 3, 1).unflatten(3, (groups, channels // groups))
        return (
            parts.transpose(3, 4).clone(memory_format=_NEW).view(input.size(0), input.size(2), input.size(3), channels).permute(0, 3, 1, 2)
        )
    return input.unflatten(1, (groups, channels // groups)).transpose(1, 2).clone(memory_format=_NEW).view(input.shape)


def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """Where an affine map takes the pixels of images of a size, in coordinates from -1 to 1; x first."""
    spatial = tuple(size)[2:]
    if len(spatial) not in (2, 3):
        raise RuntimeError("AffineGridGenerator needs 4d (spatial) or 5d (volumetric) size")
    if not theta.is_floating_point() and not theta.is_complex():
        raise RuntimeError(f"Expected theta to have floating point type, but got {theta.dtype}")
    axes = []
    for count in reversed(spatial):
        axis = torch.linspace(-1, 1, count, dtype=theta.dtype, device=theta.device) if count > 1 else theta.new_zeros(count)
        axes.append(axis if align_corners else axis * ((count - 1) / count) if count else axis)
    grids = [axis.reshape([-1] + [1] * i).expand(spatial) for i, axis in enumerate(axes)]
    base = torch.stack([*grids, torch.ones_like(grids[0])], dim=-1).reshape(1, -1, len(spatial) + 1).expand(size[0], -1, -1)
    return torch.bmm(base, theta.transpose(1, 2)).reshape(size[0], *spatial, len(spatial))


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """Where an affine map takes the pixels of images of a size, for grid_sample.

    Args:
        theta: a matrix of 2 rows and 3 columns for each image, or 3 and 4 for volumes.
        size: [N, C, H, W] or [N, C, D, H, W].
        align_corners: whether -1 and 1 are the centres of the pixels in the corners, or the corners of the image.
    """
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
            "align_corners=True if the old behavior is desired.",
            stacklevel=2,
        )
        align_corners = False
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    spatial = tuple(size)[2:]
    if len(size) not in (4, 5):
        raise NotImplementedError(
            f"affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size {tuple(size)}."
        )
    dims = len(spatial)
    if theta.dim() != 3 or tuple(theta.shape[1:]) != (dims, dims + 1):
        raise ValueError(
            f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size {tuple(size)}. Got {theta.shape}."
        )
    if align_corners and min(spatial) == 1:
        warnings.warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This is not an intended "
            "use case of affine_grid.",
            stacklevel=2,
        )
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {tuple(size)}")
    return affine_grid_generator(theta, size, align_corners)
