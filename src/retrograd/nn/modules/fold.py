"""Sliding blocks as modules."""

from __future__ import annotations

from collections.abc import Sequence

from retrograd._C import Tensor
from retrograd.nn import functional as F
from retrograd.nn.modules.module import Module

__all__ = ["Fold", "Unfold"]

_Pair = int | Sequence[int]


class Fold(Module):
    """Sums columns of blocks where they come from; see functional.fold."""

    output_size: _Pair
    kernel_size: _Pair
    dilation: _Pair
    padding: _Pair
    stride: _Pair

    def __init__(self, output_size: _Pair, kernel_size: _Pair, dilation: _Pair = 1, padding: _Pair = 0, stride: _Pair = 1) -> None:
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, "
            f"stride={self.stride}"
        )


class Unfold(Module):
    """Lays sliding blocks out as columns; see functional.unfold."""

    kernel_size: _Pair
    dilation: _Pair
    padding: _Pair
    stride: _Pair

    def __init__(self, kernel_size: _Pair, dilation: _Pair = 1, padding: _Pair = 0, stride: _Pair = 1) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, stride={self.stride}"
