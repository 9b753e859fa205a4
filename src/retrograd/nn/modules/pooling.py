"""Pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from retrograd._C import Tensor
from retrograd.nn import functional as F
from retrograd.nn.modules._sizes import _ntuple, _single
from retrograd.nn.modules.module import Module

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AdaptiveMaxPool3d",
    "AvgPool1d", "AvgPool2d", "AvgPool3d", "FractionalMaxPool2d", "FractionalMaxPool3d", "LPPool1d", "LPPool2d", "LPPool3d",
    "MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d",
]  # fmt: skip

_Size = int | Sequence[int]
_Sizes = int | Sequence[int | None] | None
_Ratio = float | Sequence[float]

# ---- largest elements ----


class _MaxPoolNd(Module):
    __constants__ = ("kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode")

    return_indices: bool
    ceil_mode: bool

    def __init__(
        self,
        kernel_size: _Size,
        stride: _Size | None = None,
        padding: _Size = 0,
        dilation: _Size = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}, "
            f"ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """The largest element of each window of signals [N, C, L] or [C, L].

    Args:
        stride: how far windows are apart; kernel_size if it is not given.
        return_indices: whether to give also where the elements are from.
        ceil_mode: whether a window may begin inside and end outside.
    """

    def forward(self, input: Tensor) -> Any:
        return F.max_pool1d(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices)


class MaxPool2d(_MaxPoolNd):
    """The largest element of each window of images [N, C, H, W] or [C, H, W]. Arguments as those of MaxPool1d, or one for each dimension."""

    def forward(self, input: Tensor) -> Any:
        return F.max_pool2d(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices)


class MaxPool3d(_MaxPoolNd):
    """The largest element of each window of volumes [N, C, D, H, W] or [C, D, H, W]. Arguments as those of MaxPool1d, or one for each dimension."""

    def forward(self, input: Tensor) -> Any:
        return F.max_pool3d(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices)


class _MaxUnpoolNd(Module):
    _dims: ClassVar[int]
    _unpool: ClassVar[Any]
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]

    def __init__(self, kernel_size: _Size, stride: _Size | None = None, padding: _Size = 0) -> None:
        super().__init__()
        each = _ntuple(self._dims)
        self.kernel_size = each(kernel_size)
        self.stride = each(stride if stride is not None else kernel_size)
        self.padding = each(padding)

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        return self._unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """Puts elements back where MaxPool1d with return_indices found them, in signals that are 0 elsewhere."""

    _dims, _unpool = 1, staticmethod(F.max_unpool1d)


class MaxUnpool2d(_MaxUnpoolNd):
    """Puts elements back where MaxPool2d with return_indices found them, in images that are 0 elsewhere."""

    _dims, _unpool = 2, staticmethod(F.max_unpool2d)


class MaxUnpool3d(_MaxUnpoolNd):
    """Puts elements back where MaxPool3d with return_indices found them, in volumes that are 0 elsewhere."""

    _dims, _unpool = 3, staticmethod(F.max_unpool3d)


class _FractionalMaxPoolNd(Module):
    __constants__ = ("kernel_size", "return_indices", "output_size", "output_ratio")

    _dims: ClassVar[int]
    _pool: ClassVar[Any]

    def __init__(
        self,
        kernel_size: _Size,
        output_size: _Size | None = None,
        output_ratio: _Ratio | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        each = _ntuple(self._dims)
        self.kernel_size = each(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = each(output_size) if output_size is not None else None
        self.output_ratio = each(output_ratio) if output_ratio is not None else None
        if output_size is None and output_ratio is None:
            raise ValueError(f"{type(self).__name__} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Any:
        return self._pool(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, _random_samples=self._random_samples
        )


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """The largest elements of windows of images whose distances are drawn anew at each call.

    Args:
        output_size: how many windows there are; or
        output_ratio: how many for each element, between 0 and 1.
        return_indices: whether to give also where the elements are from.
    """

    _dims, _pool = 2, staticmethod(F.fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """The largest elements of windows of volumes whose distances are drawn anew at each call. Arguments as those of FractionalMaxPool2d."""

    _dims, _pool = 3, staticmethod(F.fractional_max_pool3d)


# ---- means ----


class _AvgPoolNd(Module):
    __constants__: tuple[str, ...] = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad")

    kernel_size: Any
    stride: Any
    padding: Any
    ceil_mode: bool
    count_include_pad: bool

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """The mean of each window of signals [N, C, L] or [C, L].

    Args:
        stride: how far windows are apart; kernel_size if it is not given.
        ceil_mode: whether a window may begin inside and end outside.
        count_include_pad: whether the zeros of the padding count.
    """

    def __init__(
        self, kernel_size: _Size, stride: _Size | None = None, padding: _Size = 0, ceil_mode: bool = False, count_include_pad: bool = True
    ) -> None:
        super().__init__()
        self.kernel_size = _single(kernel_size)
        self.stride = _single(stride if stride is not None else kernel_size)
        self.padding = _single(padding)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class _AvgPoolManyd(_AvgPoolNd):
    __constants__ = (*_AvgPoolNd.__constants__, "divisor_override")

    _pool: ClassVar[Any]

    def __init__(
        self,
        kernel_size: _Size,
        stride: _Size | None = None,
        padding: _Size = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        return self._pool(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad, self.divisor_override)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for name, value in (("padding", 0), ("ceil_mode", False), ("count_include_pad", True)):
            self.__dict__.setdefault(name, value)


class AvgPool2d(_AvgPoolManyd):
    """The mean of each window of images [N, C, H, W] or [C, H, W]. Arguments as those of AvgPool1d, or one for each dimension, and

    Args:
        divisor_override: what to divide sums by, instead of the number of elements.
    """

    _pool = staticmethod(F.avg_pool2d)


class AvgPool3d(_AvgPoolManyd):
    """The mean of each window of volumes [N, C, D, H, W] or [C, D, H, W]. Arguments as those of AvgPool2d."""

    _pool = staticmethod(F.avg_pool3d)


# ---- results of a given size ----


class _AdaptiveAvgPoolNd(Module):
    __constants__ = ("output_size",)

    _pool: ClassVar[Any]

    def __init__(self, output_size: _Sizes) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        return self._pool(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """The means of `output_size` windows that share out signals [N, C, L] or [C, L]."""

    _pool = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """The means of windows that share out images [N, C, H, W] or [C, H, W], as many as `output_size` says; None keeps a size."""

    _pool = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """The means of windows that share out volumes [N, C, D, H, W] or [C, D, H, W], as many as `output_size` says; None keeps a size."""

    _pool = staticmethod(F.adaptive_avg_pool3d)


class _AdaptiveMaxPoolNd(Module):
    __constants__ = ("output_size", "return_indices")

    _pool: ClassVar[Any]
    return_indices: bool

    def __init__(self, output_size: _Sizes, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Any:
        return self._pool(input, self.output_size, self.return_indices)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The largest elements of `output_size` windows that share out signals [N, C, L] or [C, L]."""

    _pool = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The largest elements of windows that share out images [N, C, H, W] or [C, H, W], as many as `output_size` says; None keeps a size."""

    _pool = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The largest elements of windows that share out volumes [N, C, D, H, W] or [C, D, H, W], as many as `output_size` says; None keeps a size."""

    _pool = staticmethod(F.adaptive_max_pool3d)


# ---- powers ----


class _LPPoolNd(Module):
    __constants__ = ("norm_type", "kernel_size", "stride", "ceil_mode")

    _pool: ClassVar[Any]
    norm_type: float
    ceil_mode: bool

    def __init__(self, norm_type: float, kernel_size: _Size, stride: _Size | None = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        return self._pool(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        return f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, ceil_mode={self.ceil_mode}"


class LPPool1d(_LPPoolNd):
    """The root of the sum of powers of each window of signals [N, C, L] or [C, L].

    Args:
        norm_type: the power.
        stride: how far windows are apart; kernel_size if it is not given.
    """

    _pool = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPoolNd):
    """The root of the sum of powers of each window of images [N, C, H, W] or [C, H, W]. Arguments as those of LPPool1d."""

    _pool = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPoolNd):
    """The root of the sum of powers of each window of volumes [N, C, D, H, W] or [C, D, H, W]. Arguments as those of LPPool1d."""

    _pool = staticmethod(F.lp_pool3d)
