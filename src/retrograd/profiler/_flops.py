"""Floating-point operations of the ops that PyTorch's profiler counts, from the shapes and arguments of a call."""

from __future__ import annotations

import math
from typing import Any


def _product(event: Any, left: int, right: int) -> int:
    a, b = event.input_shapes[left], event.input_shapes[right]
    return 2 * math.prod(a) * b[-1] if a and b else 0


def _numel(event: Any) -> int:
    return math.prod(event.input_shapes[0])


def _conv2d(event: Any) -> int:
    image, weight = event.input_shapes[:2]
    if len(image) != 4 or len(weight) != 4 or len(event.concrete_inputs) < 7:
        return 0
    stride, padding, dilation = ([v, v] if isinstance(v, int) else v for v in event.concrete_inputs[3:6])
    if not all(isinstance(v, list) for v in (stride, padding, dilation)):  # padding by a word
        return 0
    strides, paddings, dilations = ((v * 2 if len(v) == 1 else v) for v in (stride, padding, dilation))
    sides = [
        (image[2 + i] + 2 * paddings[i] - dilations[i] * (weight[2 + i] - 1) - 1) // strides[i] + 1  # of the result
        for i in range(2)
    ]
    return 2 * image[0] * weight[0] * weight[1] * weight[2] * weight[3] * sides[0] * sides[1]


_RULES = {
    "aten::mm": lambda event: _product(event, 0, 1),
    "aten::addmm": lambda event: _product(event, 1, 2),
    "aten::bmm": lambda event: _product(event, 0, 1),
    "aten::baddbmm": lambda event: _product(event, 1, 2),
    "aten::mul": _numel,
    "aten::add": _numel,
    "aten::conv2d": _conv2d,
}


def flops(event: Any) -> int:
    """0 for what is not counted."""
    rule = _RULES.get(event.name)
    return rule(event) if rule and event.input_shapes else 0
