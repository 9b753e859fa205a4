"""Images: in another size, sampled at points, and with their pixels and channels in another order."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import retrograd as torch
from retrograd import _C, Tensor

_ops = _C._ops

# ---- another size ----

# By the mode and the number of dimensions of the input; those that cannot align corners are not asked to.
_NEAREST: dict[tuple[str, int], Any] = {
    ("nearest", 3): _ops.upsample_nearest1d,
    ("nearest", 4): _ops.upsample_nearest2d,
    ("nearest", 5): _ops.upsample_nearest3d,
    ("nearest-exact", 3): _ops._upsample_nearest_exact1d,
    ("nearest-exact", 4): _ops._upsample_nearest_exact2d,
    ("nearest-exact", 5): _ops._upsample_nearest_exact3d,
}
_BETWEEN: dict[tuple[str, int], Any] = {
    ("linear", 3): _ops.upsample_linear1d,
    ("bilinear", 4): _ops.upsample_bilinear2d,
    ("bicubic", 4): _ops.upsample_bicubic2d,
    ("trilinear", 5): _ops.upsample_trilinear3d,
}
_SMOOTH = {"bilinear": _ops._upsample_bilinear2d_aa, "bicubic": _ops._upsample_bicubic2d_aa, "lanczos": _ops._upsample_lanczos2d_aa}
_RANKS = {"linear": 3, "bilinear": 4, "trilinear": 5}


def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Signals [N, C, W], images [N, C, H, W] or volumes [N, C, D, H, W] in another size.

    Args:
        input: what to make larger or smaller.
        size: the new size of each dimension but the first two, or one for all.
        scale_factor: how many times larger each is to be, instead.
        mode: 'nearest', 'nearest-exact', 'linear' (signals), 'bilinear' and 'bicubic' (images), 'trilinear' (volumes), 'area', or, with antialias,
            'lanczos' (images).
        align_corners: whether the centres of the elements in the corners stay, or the corners themselves.
        recompute_scale_factor: whether the scale follows from the sizes, which are rounded, rather than being scale_factor.
        antialias: whether each element counts where an image gets smaller; 'bilinear', 'bicubic' and 'lanczos'.
    """
    shape = input.shape
    rank = len(shape)
    op = _NEAREST.get((mode, rank))
    if align_corners is not None and (op is not None or mode in ("nearest", "nearest-exact", "area")):
        raise ValueError("align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear")
    if align_corners and mode == "lanczos":
        raise ValueError("Lanczos mode does not support align_corners=True")
    sizes: Sequence[int]  # none of them: as the scales say
    scales: Sequence[float] = ()
    if size is not None:
        if scale_factor is not None:
            raise ValueError("only one of size or scale_factor should be defined")
        if recompute_scale_factor:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        sizes = _new_size(shape, size)
    elif scale_factor is not None:
        sizes, scales = (), _scales(shape, scale_factor)
        if recompute_scale_factor or mode == "area":
            sizes, scales = [math.floor(n * scale) for n, scale in zip(shape[2:], scales, strict=True)], ()
    else:
        raise ValueError("either size or scale_factor should be defined")
    if antialias:
        if mode not in _SMOOTH or rank != 4:
            raise ValueError("Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input")
        return _SMOOTH[mode](input, sizes, bool(align_corners), *scales)
    if op is not None:
        return op(input, sizes, *scales)
    op = _BETWEEN.get((mode, rank))
    if op is not None:
        return op(input, sizes, bool(align_corners), *scales)
    if mode == "lanczos":
        raise ValueError("Lanczos mode requires antialias=True")
    if mode == "area" and 3 <= rank <= 5:
        means: Tensor = getattr(_ops, f"adaptive_avg_pool{rank - 2}d")(input, sizes)
        return means
    if mode in _RANKS and 3 <= rank <= 5:
        raise NotImplementedError(f"Got {rank}D input, but {mode} mode needs {_RANKS[mode]}D input")
    raise NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {rank}D) for the modes: nearest | linear | bilinear | bicubic | trilinear "
        f"| lanczos | area | nearest-exact (got {mode})"
    )


def _new_size(shape: Sequence[int], size: Any) -> Sequence[int]:
    dims = len(shape) - 2
    if not isinstance(size, list | tuple):
        return (size,) * dims
    if len(size) != dims:
        raise ValueError(
            f"Input and output must have the same number of spatial dimensions, but got input with spatial dimensions of {list(shape[2:])} "
            f"and output size of {size}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and output size in (o1, o2, ...,oK) format."
        )
    if any(isinstance(n, float) for n in size):
        raise TypeError(
            "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but got size with types "
            f"{[type(n) for n in size]}"
        )
    return size


def _scales(shape: Sequence[int], scale_factor: Any) -> Sequence[float]:
    dims = len(shape) - 2
    if not isinstance(scale_factor, list | tuple):
        return (scale_factor,) * dims
    if len(scale_factor) != dims:
        raise ValueError(
            f"Input and scale_factor must have the same number of spatial dimensions, but got input with spatial dimensions of "
            f"{list(shape[2:])} and scale_factor of shape {scale_factor}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
            "scale_factor in (s1, s2, ...,sK) format."
        )
    return scale_factor


def _deprecated(name: str) -> None:
    warnings.warn(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=3)


def upsample(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """The old name of interpolate."""
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None) -> Tensor:
    """interpolate with mode='nearest', under an old name."""
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(
    input: Tensor, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None
) -> Tensor:
    """interpolate with mode='bilinear' and align_corners=True, under an old name."""
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


# ---- sampling at points ----

_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
_PADDINGS = {"zeros": 0, "border": 1, "reflection": 2}


def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """Images [N, C, H, W] or volumes [N, C, D, H, W] at points.

    Args:
        input: what to sample.
        grid: the points, [N, ..., 2] or [N, ..., 3], x first, in coordinates from -1 to 1.
        mode: 'bilinear', 'nearest' or, for images, 'bicubic'.
        padding_mode: what is found outside: 'zeros', 'border' or 'reflection'.
        align_corners: whether -1 and 1 are the centres of the elements in the corners, or the corners of the image.
    """
    if mode not in _MODES:
        raise ValueError(f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'")
    if padding_mode not in _PADDINGS:
        raise ValueError(
            f"nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '{padding_mode}'"
        )
    if align_corners is None:
        _warn_of_corners()
        align_corners = False
    return _ops.grid_sampler(input, grid, _MODES[mode], _PADDINGS[padding_mode], align_corners)


def _warn_of_corners() -> None:
    warnings.warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
        "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details.",
        stacklevel=3,
    )


# ---- another order ----

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


native_channel_shuffle = channel_shuffle


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
        _warn_of_corners()
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
