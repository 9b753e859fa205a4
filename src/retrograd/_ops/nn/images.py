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
_NUMBERS = frozenset({int, float})
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
    rank = input.dim()
    if scale_factor.__class__ in _NUMBERS and size is None and not (antialias or recompute_scale_factor):  # mostly
        key = mode, rank
        if align_corners is None and (op := _NEAREST.get(key)) is not None:
            if rank == 4:
                return op(input, (), scale_factor, scale_factor)
            return op(input, (), scale_factor) if rank == 3 else op(input, (), scale_factor, scale_factor, scale_factor)
        if (op := _BETWEEN.get(key)) is not None:
            corners = bool(align_corners)
            if rank == 4:
                return op(input, (), corners, scale_factor, scale_factor)
            return op(input, (), corners, scale_factor) if rank == 3 else op(input, (), corners, scale_factor, scale_factor, scale_factor)
    op = _NEAREST.get((mode, rank))
    if align_corners is not None and (op is not None or mode in ("nearest", "nearest-exact", "area")):
        raise ValueError(
            f"align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear, got mode={mode!r}"
        )
    if align_corners and mode == "lanczos":
        raise ValueError("Lanczos mode does not support align_corners=True")
    sizes: Any  # none of them: as the scales say
    scales: Any = ()
    if size is not None:
        if scale_factor is not None:
            raise ValueError("only one of size or scale_factor should be defined")
        if recompute_scale_factor:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        sizes = _new_size(input, size) if isinstance(size, (list, tuple)) else (size,) * (rank - 2)
    elif scale_factor is not None:
        sizes, scales = (), _scales(input, scale_factor) if isinstance(scale_factor, (list, tuple)) else (scale_factor,) * (rank - 2)
        if recompute_scale_factor or mode == "area":
            sizes, scales = [math.floor(n * scale) for n, scale in zip(input.shape[2:], scales, strict=True)], ()
    else:
        raise ValueError("either size or scale_factor should be defined")
    if antialias:
        if mode not in _SMOOTH or rank != 4:
            raise ValueError(
                "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input, got "
                f"mode={mode!r} and an input of shape {list(input.shape)}"
            )
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


def _new_size(input: Tensor, size: Sequence[int]) -> Sequence[int]:
    if len(size) != input.dim() - 2:
        raise ValueError(
            f"Input and output must have the same number of spatial dimensions, but got input with spatial dimensions of {list(input.shape[2:])} "
            f"and output size of {size}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and output size in (o1, o2, ...,oK) format."
        )
    if any(isinstance(n, float) for n in size):
        raise TypeError(
            "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but got size with types "
            f"{[type(n) for n in size]}"
        )
    return size


def _scales(input: Tensor, scale_factor: Sequence[float]) -> Sequence[float]:
    if len(scale_factor) != input.dim() - 2:
        raise ValueError(
            f"Input and scale_factor must have the same number of spatial dimensions, but got input with spatial dimensions of "
            f"{list(input.shape[2:])} and scale_factor of shape {scale_factor}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
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

GRID_SAMPLE_INTERPOLATION_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
GRID_SAMPLE_PADDING_MODES = {"zeros": 0, "border": 1, "reflection": 2}


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
    if mode not in GRID_SAMPLE_INTERPOLATION_MODES:
        raise ValueError(f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'")
    if padding_mode not in GRID_SAMPLE_PADDING_MODES:
        raise ValueError(
            f"nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '{padding_mode}'"
        )
    if align_corners is None:
        _warn_of_corners()
        align_corners = False
    return _ops.grid_sampler(input, grid, GRID_SAMPLE_INTERPOLATION_MODES[mode], GRID_SAMPLE_PADDING_MODES[padding_mode], align_corners)


def _warn_of_corners() -> None:
    warnings.warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
        "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details.",
        stacklevel=3,
    )


# ---- another order ----

_NEW = torch.contiguous_format  # results have memory of their own, also where the order stays


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
    if len(size) not in (4, 5):
        raise NotImplementedError(
            f"affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size {tuple(size)}."
        )
    dims = len(size) - 2
    if theta.dim() != 3 or tuple(theta.shape[1:]) != (dims, dims + 1):
        raise ValueError(
            f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size {tuple(size)}. Got {theta.shape}."
        )
    if align_corners and min(size[2:]) == 1:
        warnings.warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This is not an intended "
            "use case of affine_grid.",
            stacklevel=2,
        )
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {tuple(size)}")
    return affine_grid_generator(theta, size, align_corners)
