"""nn.functional.unfold and fold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from retrograd import _C, Tensor

_Pair = int | Sequence[int]


def _pair(x: _Pair) -> tuple[int, ...]:
    return tuple(x) if type(x) is not int and isinstance(x, Iterable) else (x, x)


def unfold(input: Tensor, kernel_size: _Pair, dilation: _Pair = 1, padding: _Pair = 0, stride: _Pair = 1) -> Tensor:
    """Each block that a kernel would meet as a column: [N, C * kernel, blocks] from [N, C, height, width], or both without the batch."""
    return _C._ops.im2col(input, _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride))


def fold(input: Tensor, output_size: _Pair, kernel_size: _Pair, dilation: _Pair = 1, padding: _Pair = 0, stride: _Pair = 1) -> Tensor:
    """The sums of columns where unfold takes them from: [N, C, *output_size]."""
    return _C._ops.col2im(input, _pair(output_size), _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride))
