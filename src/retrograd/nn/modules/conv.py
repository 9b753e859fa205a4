"""Convolutions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from retrograd import _C
from retrograd._C import Tensor
from retrograd.nn import functional as F, init
from retrograd.nn.modules._sizes import _ntuple, _reverse_repeat_tuple
from retrograd.nn.modules.lazy import LazyInput
from retrograd.nn.modules.module import Module
from retrograd.nn.parameter import Parameter

__all__ = [
    "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "LazyConv1d", "LazyConv2d", "LazyConv3d",
    "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d",
]  # fmt: skip

_Size = int | Sequence[int]


class _ConvNd(Module):
    """What convolutions share. Sizes are tuples with a number for each dimension."""

    __constants__ = (
        "stride", "padding", "dilation", "groups", "padding_mode", "output_padding", "in_channels", "out_channels", "kernel_size",
    )  # fmt: skip

    _dims: ClassVar[int]
    _convolve: ClassVar[Any]
    in_channels: int
    out_channels: int
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: str | tuple[int, ...]
    dilation: tuple[int, ...]
    transposed: bool
    output_padding: tuple[int, ...]
    groups: int
    padding_mode: str
    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if groups <= 0:
            raise ValueError(f"groups must be a positive integer, got {groups}")
        if in_channels % groups != 0:
            raise ValueError(f"in_channels must be divisible by groups, got in_channels={in_channels} and groups={groups}")
        if out_channels % groups != 0:
            raise ValueError(f"out_channels must be divisible by groups, got out_channels={out_channels} and groups={groups}")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'valid', 'same'}}")
            if padding == "same" and any(s != 1 for s in stride):
                raise ValueError(
                    f"padding='same' is not supported for strided convolutions, got stride={stride}: give the padding in numbers"
                )
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(
                f"padding_mode must be one of {{'zeros', 'reflect', 'replicate', 'circular'}}, but got padding_mode='{padding_mode}'"
            )
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = self._pad_amounts()
        sizes = (in_channels, out_channels // groups) if transposed else (out_channels, in_channels // groups)
        self.weight = Parameter(_C._ops.empty((*sizes, *kernel_size), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(_C._ops.empty((out_channels,), device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _pad_amounts(self) -> list[int] | tuple[int, ...]:
        """The padding as functional.pad() wants it, for modes other than zeros."""
        if not isinstance(self.padding, str):
            return _reverse_repeat_tuple(self.padding, 2)
        amounts = [0] * (2 * len(self.kernel_size))
        if self.padding == "same":
            for i, (d, k) in enumerate(zip(reversed(self.dilation), reversed(self.kernel_size), strict=False)):
                total = d * (k - 1)
                amounts[2 * i : 2 * i + 2] = total // 2, total - total // 2
        return amounts

    def reset_parameters(self) -> None:
        """Draws weight and bias anew, uniformly within 1 / sqrt(fan_in)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if self.padding != (0,) * len(self.padding):
            text += f", padding={self.padding}"
        if self.dilation != (1,) * len(self.dilation):
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * len(self.output_padding):
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")


class _Conv(_ConvNd):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _Size,
        stride: _Size = 1,
        padding: str | _Size = 0,
        dilation: _Size = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        each = _ntuple(self._dims)
        super().__init__(
            in_channels, out_channels, each(kernel_size), each(stride), padding if isinstance(padding, str) else each(padding),
            each(dilation), False, each(0), groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        if self.padding_mode == "zeros":
            return self._convolve(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)
        input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
        return self._convolve(input, weight, bias, self.stride, (0,) * self._dims, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Conv):
    """Convolution of signals [N, C, L] or [C, L].

    Args:
        padding: a number of elements for both sides, 'valid' (none) or 'same' (as many as keep the length).
        groups: how many parts the channels are in that do not meet.
        padding_mode: 'zeros', 'reflect', 'replicate' or 'circular'.
    """

    _dims, _convolve = 1, staticmethod(F.conv1d)


class Conv2d(_Conv):
    """Convolution of images [N, C, H, W] or [C, H, W]. Sizes are one number, or one for each of height and width.

    Args:
        padding: elements on both sides, 'valid' (none) or 'same' (as many as keep the size).
        groups: how many parts the channels are in that do not meet.
        padding_mode: 'zeros', 'reflect', 'replicate' or 'circular'.
    """

    _dims, _convolve = 2, staticmethod(F.conv2d)


class Conv3d(_Conv):
    """Convolution of volumes [N, C, D, H, W] or [C, D, H, W]. Sizes are one number, or one for each of depth, height and width.

    Args:
        padding: elements on both sides, 'valid' (none) or 'same' (as many as keep the size).
        groups: how many parts the channels are in that do not meet.
        padding_mode: 'zeros', 'reflect', 'replicate' or 'circular'.
    """

    _dims, _convolve = 3, staticmethod(F.conv3d)


class _ConvTransposeNd(_ConvNd):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _Size,
        stride: _Size = 1,
        padding: _Size = 0,
        output_padding: _Size = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: _Size = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        each = _ntuple(self._dims)
        super().__init__(
            in_channels, out_channels, each(kernel_size), each(stride), each(padding), each(dilation), True, each(output_padding), groups,
            bias, padding_mode, device, dtype,
        )  # fmt: skip

    def _output_padding(self, input: Tensor, output_size: Sequence[int] | None) -> tuple[int, ...]:
        """What makes the result as large as asked for; several sizes of it belong to one size of the input where the stride is not 1."""
        if output_size is None:
            return self.output_padding
        dims, padding = self._dims, self.padding
        before = input.dim() - dims
        if len(output_size) == input.dim():
            output_size = output_size[before:]
        if len(output_size) != dims:
            raise ValueError(
                f"ConvTranspose{dims}D: for {input.dim()}D input, output_size must have {dims} or {before + dims} elements "
                f"(got {len(output_size)})"
            )
        least = [
            (input.size(before + d) - 1) * self.stride[d] - 2 * int(padding[d]) + self.dilation[d] * (self.kernel_size[d] - 1) + 1
            for d in range(dims)
        ]
        most = [n + s - 1 for n, s in zip(least, self.stride, strict=True)]
        if any(not low <= n <= high for low, n, high in zip(least, output_size, most, strict=True)):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {least} to {most} (for an input of "
                f"{input.size()[2:]})"
            )
        return tuple(n - low for n, low in zip(output_size, least, strict=True))

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        if self.padding_mode != "zeros":
            raise ValueError(f"Only `zeros` padding mode is supported for {type(self).__name__}")
        extra = self._output_padding(input, output_size)
        return self._convolve(input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation)


class ConvTranspose1d(_ConvTransposeNd):
    """The transpose of Conv1d as a linear map, for signals [N, C, L] or [C, L].

    Args:
        output_padding: more elements at one end of the result; or the result's size is given to forward().
    """

    _dims, _convolve = 1, staticmethod(F.conv_transpose1d)


class ConvTranspose2d(_ConvTransposeNd):
    """The transpose of Conv2d as a linear map, for images [N, C, H, W] or [C, H, W].

    Args:
        output_padding: more elements at one end of each dimension of the result; or the result's size is given to forward().
    """

    _dims, _convolve = 2, staticmethod(F.conv_transpose2d)


class ConvTranspose3d(_ConvTransposeNd):
    """The transpose of Conv3d as a linear map, for volumes [N, C, D, H, W] or [C, D, H, W].

    Args:
        output_padding: more elements at one end of each dimension of the result; or the result's size is given to forward().
    """

    _dims, _convolve = 3, staticmethod(F.conv_transpose3d)


class _LazyConvNd(LazyInput, _ConvNd):
    """What the lazy convolutions share."""

    _size_name = "in_channels"

    def _size_of(self, input: Tensor) -> int:
        dims = self._dims
        if input.dim() not in (dims + 1, dims + 2):
            raise RuntimeError(
                f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {type(self).__name__}, but got input of size: "
                f"{input.shape}"
            )
        channels = input.shape[-dims - 1]
        if channels % self.groups != 0:
            raise ValueError(f"in_channels must be divisible by groups, got {channels} channels and groups={self.groups}")
        return channels

    def _shapes(self, size: int) -> dict[str, tuple[int, ...]]:
        sizes = (size, self.out_channels // self.groups) if self.transposed else (self.out_channels, size // self.groups)
        return {"weight": (*sizes, *self.kernel_size), "bias": (self.out_channels,)}


class _LazyConv(_LazyConvNd):
    def __init__(
        self,
        out_channels: int,
        kernel_size: _Size,
        stride: _Size = 1,
        padding: str | _Size = 0,
        dilation: _Size = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype)
        self._forget_shapes(device, dtype)


class _LazyConvTranspose(_LazyConvNd):
    def __init__(
        self,
        out_channels: int,
        kernel_size: _Size,
        stride: _Size = 1,
        padding: _Size = 0,
        output_padding: _Size = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: _Size = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, out_channels, kernel_size, stride, padding, output_padding, groups, bias, dilation, padding_mode, device, dtype)
        self._forget_shapes(device, dtype)


class LazyConv1d(_LazyConv, Conv1d):
    """A Conv1d that takes in_channels from its first input."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """A Conv2d that takes in_channels from its first input."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """A Conv3d that takes in_channels from its first input."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """A ConvTranspose1d that takes in_channels from its first input."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """A ConvTranspose2d that takes in_channels from its first input."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """A ConvTranspose3d that takes in_channels from its first input."""

    cls_to_become = ConvTranspose3d
