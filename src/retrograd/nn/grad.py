"""The gradients of convolutions, as functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.nn.modules.utils import _ntuple

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]


def _of_input(dims: int) -> Callable[..., Tensor]:
    def gradient(
        input_size: Any, weight: Tensor, grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
    ) -> Tensor:
        stride, padding, dilation = map(_ntuple(dims), (stride, padding, dilation))
        return _C._ops._convolution_input(grad_output, weight, input_size, stride, padding, dilation, False, (0,) * dims, groups)

    gradient.__name__ = gradient.__qualname__ = f"conv{dims}d_input"
    gradient.__doc__ = f"The gradient of conv{dims}d for an input of input_size, from that of its result."
    return gradient


def _of_weight(dims: int) -> Callable[..., Tensor]:
    def gradient(
        input: Tensor, weight_size: Any, grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
    ) -> Tensor:
        stride, padding, dilation = map(_ntuple(dims), (stride, padding, dilation))
        return _C._ops._convolution_weight(grad_output, input, weight_size, stride, padding, dilation, False, (0,) * dims, groups)

    gradient.__name__ = gradient.__qualname__ = f"conv{dims}d_weight"
    gradient.__doc__ = f"The gradient of conv{dims}d for a weight of weight_size, from that of its result."
    return gradient


conv1d_input, conv2d_input, conv3d_input = map(_of_input, (1, 2, 3))
conv1d_weight, conv2d_weight, conv3d_weight = map(_of_weight, (1, 2, 3))
