"""The pooling functions of nn.functional."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import retrograd as torch
from retrograd import _C, Tensor

_ops = _C._ops

_Size = int | Sequence[int]
_Sizes = int | Sequence[int | None]
_Both = tuple[Tensor, Tensor]


# ---- largest elements ----


def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: _Size,
    stride: _Size | None = None,
    padding: _Size = 0,
    dilation: _Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> _Both:
    """max_pool1d, and where in its signal each element is from."""
    return _ops.max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: _Size,
    stride: _Size | None = None,
    padding: _Size = 0,
    dilation: _Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> _Both:
    """max_pool2d, and where in its plane each element is from, which max_unpool2d takes."""
    return _ops.max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: _Size,
    stride: _Size | None = None,
    padding: _Size = 0,
    dilation: _Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> _Both:
    """max_pool3d, and where in its volume each element is from, which max_unpool3d takes."""
    return _ops.max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool1d(
    input: Tensor,
    kernel_size: _Size,
    stride: _Size | None = None,
    padding: _Size = 0,
    dilation: _Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of signals [N, C, L] or [C, L]; with return_indices also where it is from."""
    pool = _ops.max_pool1d_with_indices if return_indices else _ops.max_pool1d
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d(
    input: Tensor,
    kernel_size: _Size,
    stride: _Size | None = None,
    padding: _Size = 0,
    dilation: _Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of images [N, C, H, W] or [C, H, W]; with return_indices also where it is from."""
    pool = _ops.max_pool2d_with_indices if return_indices else _ops.max_pool2d
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d(
    input: Tensor,
    kernel_size: _Size,
    stride: _Size | None = None,
    padding: _Size = 0,
    dilation: _Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of volumes [N, C, D, H, W] or [C, D, H, W]; with return_indices also where it is from."""
    pool = _ops.max_pool3d_with_indices if return_indices else _ops.max_pool3d
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)


# ---- results of a given size ----


def _filled_in(output_size: _Sizes, input: Tensor, dims: int) -> Any:
    """The size with that of the input where it says None."""
    if type(output_size) is int:
        return (output_size,) * dims
    if not isinstance(output_size, Iterable):
        return (output_size,) * dims
    sizes = tuple(output_size)
    if None not in sizes:
        return sizes
    if input.dim() <= dims:
        raise ValueError(f"Input dimension should be at least {dims + 1}, but got {input.dim()}")
    return tuple(n if s is None else s for s, n in zip(sizes, input.shape[-len(sizes) :], strict=True))


def adaptive_max_pool1d_with_indices(input: Tensor, output_size: _Size, return_indices: bool = False) -> _Both:
    """adaptive_max_pool1d, and where in its signal each element is from."""
    return _ops.adaptive_max_pool1d(input, output_size)


def adaptive_max_pool2d_with_indices(input: Tensor, output_size: _Sizes, return_indices: bool = False) -> _Both:
    """adaptive_max_pool2d, and where in its plane each element is from."""
    return _ops.adaptive_max_pool2d(input, _filled_in(output_size, input, 2))


def adaptive_max_pool3d_with_indices(input: Tensor, output_size: _Sizes, return_indices: bool = False) -> _Both:
    """adaptive_max_pool3d, and where in its volume each element is from."""
    return _ops.adaptive_max_pool3d(input, _filled_in(output_size, input, 3))


def adaptive_max_pool1d(input: Tensor, output_size: _Size, return_indices: bool = False) -> Any:
    """The largest elements of `output_size` windows that share out signals [N, C, L] or [C, L]."""
    both = _ops.adaptive_max_pool1d(input, output_size)
    return both if return_indices else both[0]


def adaptive_max_pool2d(input: Tensor, output_size: _Sizes, return_indices: bool = False) -> Any:
    """The largest elements of windows that share out images, as many as `output_size` says; None for as many as there are elements."""
    both = _ops.adaptive_max_pool2d(input, _filled_in(output_size, input, 2))
    return both if return_indices else both[0]


def adaptive_max_pool3d(input: Tensor, output_size: _Sizes, return_indices: bool = False) -> Any:
    """The largest elements of windows that share out volumes, as many as `output_size` says; None for as many as there are elements."""
    both = _ops.adaptive_max_pool3d(input, _filled_in(output_size, input, 3))
    return both if return_indices else both[0]


def adaptive_avg_pool2d(input: Tensor, output_size: _Sizes) -> Tensor:
    """The means of windows that share out images, as many as `output_size` says; None for as many as there are elements."""
    return _ops.adaptive_avg_pool2d(input, _filled_in(output_size, input, 2))


def adaptive_avg_pool3d(input: Tensor, output_size: _Sizes) -> Tensor:
    """The means of windows that share out volumes, as many as `output_size` says; None for as many as there are elements."""
    return _ops.adaptive_avg_pool3d(input, _filled_in(output_size, input, 3))


# ---- windows by chance ----


def _fractional(dims: int, input: Tensor, kernel_size: _Size, output_size: Any, output_ratio: Any, samples: Tensor | None) -> _Both:
    if output_size is None:
        name = f"fractional_max_pool{dims}d"
        if output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        ratios = (output_ratio,) * dims if isinstance(output_ratio, (int, float)) else tuple(output_ratio)
        if len(ratios) != dims:
            raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints. Got {output_ratio}")
        output_size = [int(n * r) for n, r in zip(input.shape[-dims:], ratios, strict=True)]
    if samples is None:
        batch = 1 if input.dim() == dims + 1 else input.size(0)
        samples = torch.rand(batch, input.size(-dims - 1), dims, dtype=input.dtype, device=input.device)
    return (_ops.fractional_max_pool2d if dims == 2 else _ops.fractional_max_pool3d)(input, kernel_size, output_size, samples)


def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: _Size,
    output_size: _Size | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> _Both:
    """fractional_max_pool2d, and where in its plane each element is from."""
    return _fractional(2, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: _Size,
    output_size: _Size | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> _Both:
    """fractional_max_pool3d, and where in its volume each element is from."""
    return _fractional(3, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool2d(
    input: Tensor,
    kernel_size: _Size,
    output_size: _Size | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The largest elements of windows of images whose distances are drawn; `output_ratio` is that of the result's size to the input's."""
    both = _fractional(2, input, kernel_size, output_size, output_ratio, _random_samples)
    return both if return_indices else both[0]


def fractional_max_pool3d(
    input: Tensor,
    kernel_size: _Size,
    output_size: _Size | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The largest elements of windows of volumes whose distances are drawn; `output_ratio` is that of the result's size to the input's."""
    both = _fractional(3, input, kernel_size, output_size, output_ratio, _random_samples)
    return both if return_indices else both[0]


# ---- powers ----


def _rooted(sums: Tensor, norm_type: float, count: int) -> Tensor:
    """The root of sums of powers, from their means."""
    return (torch.sign(sums) * torch.relu(torch.abs(sums))).mul(count).pow(1.0 / norm_type)


def _count(kernel_size: _Size, dims: int) -> int:
    count = 1
    for size in _each(kernel_size, dims):
        count *= size
    return count


def _extreme(
    pool: Callable[..., Tensor], input: Tensor, norm_type: float, kernel_size: _Size, stride: _Size | None, ceil_mode: bool
) -> Tensor:
    """The largest or, for -inf, the smallest absolute value of each window."""
    sign = 1 if norm_type > 0 else -1
    return sign * pool(sign * input.abs(), kernel_size, stride, 0, 1, ceil_mode)


def lp_pool1d(input: Tensor, norm_type: float, kernel_size: _Size, stride: _Size | None = None, ceil_mode: bool = False) -> Tensor:
    """The root of the sum of powers of each window of signals."""
    if math.isinf(norm_type):
        return _extreme(max_pool1d, input, norm_type, kernel_size, stride, ceil_mode)
    means = _ops.avg_pool1d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return _rooted(means, norm_type, _count(kernel_size, 1))


def lp_pool2d(input: Tensor, norm_type: float, kernel_size: _Size, stride: _Size | None = None, ceil_mode: bool = False) -> Tensor:
    """The root of the sum of powers of each window of images."""
    if math.isinf(norm_type):
        return _extreme(max_pool2d, input, norm_type, kernel_size, stride, ceil_mode)
    means = _ops.avg_pool2d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return _rooted(means, norm_type, _count(kernel_size, 2))


def lp_pool3d(input: Tensor, norm_type: float, kernel_size: _Size, stride: _Size | None = None, ceil_mode: bool = False) -> Tensor:
    """The root of the sum of powers of each window of volumes."""
    if math.isinf(norm_type):
        return _extreme(max_pool3d, input, norm_type, kernel_size, stride, ceil_mode)
    means = _ops.avg_pool3d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return _rooted(means, norm_type, _count(kernel_size, 3))


# ---- and back ----


def _each(x: Any, dims: int) -> tuple[int, ...]:
    return tuple(x) if isinstance(x, Iterable) else (x,) * dims


def _unpooled_size(
    input: Tensor, dims: int, kernel: tuple[int, ...], stride: tuple[int, ...], padding: tuple[int, ...], output_size: Sequence[int] | None
) -> list[int]:
    """The size of what was pooled: as given, if windows of that size have room in it, else the least."""
    own = input.shape[-dims:]
    least = [(n - 1) * stride[d] + kernel[d] - 2 * padding[d] for d, n in enumerate(own)]
    if output_size is None:
        for d, n in enumerate(least):
            if n < 0:
                raise ValueError(
                    f"max_unpooling: output_size must contain non-negative spatial dimensions, but got output_size[{d}]={n}, from an input "
                    f"of size {tuple(own)}"
                )
        return least
    wanted = list(output_size)
    if len(wanted) == dims + 2:
        wanted = wanted[2:]
    if len(wanted) != dims:
        raise ValueError(
            f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it has a length of '{len(wanted)}'"
        )
    for d, n in enumerate(wanted):
        low, high = least[d] - stride[d], least[d] + stride[d]
        if not low < n < high:
            raise ValueError(f'invalid output_size "{output_size}" (dim {d} must be between {low} and {high})')
    return wanted


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: _Size,
    stride: _Size | None = None,
    padding: _Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Elements at the places that max_pool1d gives, of signals that are 0 elsewhere."""
    kernel, padding = _each(kernel_size, 1), _each(padding, 1)
    size = _unpooled_size(input, 1, kernel, kernel if stride is None else _each(stride, 1), padding, output_size)
    return _ops.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), (*size, 1)).squeeze(-1)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: _Size,
    stride: _Size | None = None,
    padding: _Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Elements at the places that max_pool2d gives, of images that are 0 elsewhere."""
    kernel, padding = _each(kernel_size, 2), _each(padding, 2)
    size = _unpooled_size(input, 2, kernel, kernel if stride is None else _each(stride, 2), padding, output_size)
    return _ops.max_unpool2d(input, indices, size)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: _Size,
    stride: _Size | None = None,
    padding: _Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Elements at the places that max_pool3d gives, of volumes that are 0 elsewhere."""
    kernel, padding = _each(kernel_size, 3), _each(padding, 3)
    stride = kernel if stride is None else _each(stride, 3)
    return _ops.max_unpool3d(input, indices, _unpooled_size(input, 3, kernel, stride, padding, output_size), stride, padding)
