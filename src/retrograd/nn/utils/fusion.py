"""A layer and the batch norm after it as one layer, for evaluation."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

from retrograd import _C
from retrograd._C import Tensor
from retrograd.nn.parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]

L = TypeVar("L", bound=Any)


def fuse_conv_bn_eval(conv: L, bn: Any, transpose: bool = False) -> L:
    """A convolution that computes bn(conv(x)); both have to be in evaluation mode.

    Args:
        transpose: the convolution is a transposed one.
    """
    if conv.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    fused = copy.deepcopy(conv)
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the convolution that computes a batch norm too."""
    shape = [1] * conv_w.dim()
    shape[1 if transpose else 0] = -1
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape)


def fuse_linear_bn_eval(linear: L, bn: Any) -> L:
    """A linear layer that computes bn(linear(x)); both have to be in evaluation mode."""
    if linear.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    fused = copy.deepcopy(linear)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    fused.weight, fused.bias = fuse_linear_bn_weights(fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias)
    return fused


def fuse_linear_bn_weights(
    linear_w: Tensor, linear_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float, bn_w: Tensor | None, bn_b: Tensor | None
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the linear layer that computes a batch norm too."""
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, [-1, 1])


def _fused(
    weight: Tensor,
    bias: Tensor | None,
    mean: Tensor,
    variance: Tensor,
    eps: float,
    scale: Tensor | None,
    shift: Tensor | None,
    shape: list[int],
) -> tuple[Parameter, Parameter]:
    """(weight * x + bias - mean) / sqrt(variance + eps) * scale + shift, as one weight and one bias; `shape` puts the factors along the outputs."""
    bias = _C._ops.zeros_like(mean) if bias is None else bias
    factor = _C._ops.rsqrt(variance + eps)
    factor = factor if scale is None else scale * factor
    new_bias = (bias - mean) * factor
    new_bias = new_bias if shift is None else new_bias + shift
    new_weight = (weight * factor.reshape(shape)).to(weight.dtype)
    return Parameter(new_weight.detach(), weight.requires_grad), Parameter(new_bias.to(bias.dtype).detach(), bias.requires_grad)
