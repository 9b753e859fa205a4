"""Padding as modules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from retrograd._C import Tensor
from retrograd.nn import functional as F
from retrograd.nn.modules.module import Module

__all__ = [
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ReflectionPad1d",
    "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d",
    "ZeroPad3d",
]  # fmt: skip


class _Pad(Module):
    """padding: one amount for every side, or (before, after) for each dimension, the last one first."""

    _dims: ClassVar[int]
    _mode: ClassVar[str]
    padding: tuple[int, ...]

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = tuple(padding) if isinstance(padding, Iterable) else (padding,) * (2 * self._dims)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPad(_Pad):
    value: float

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _ZeroPad(_ConstantPad):
    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _CircularPad(_Pad):
    _mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (self._dims + 1, self._dims + 2):
            raise ValueError(f"expected {self._dims + 1}D or {self._dims + 2}D input (got {input.dim()}D input)")
        return super().forward(input)


class ConstantPad1d(_ConstantPad):
    """Pads the last dimension with a value."""

    _dims = 1


class ConstantPad2d(_ConstantPad):
    """Pads the last two dimensions with a value."""

    _dims = 2


class ConstantPad3d(_ConstantPad):
    """Pads the last three dimensions with a value."""

    _dims = 3


class ZeroPad1d(_ZeroPad):
    """Pads the last dimension with zeros."""

    _dims = 1


class ZeroPad2d(_ZeroPad):
    """Pads the last two dimensions with zeros."""

    _dims = 2


class ZeroPad3d(_ZeroPad):
    """Pads the last three dimensions with zeros."""

    _dims = 3


class ReflectionPad1d(_Pad):
    """Pads the last dimension with its mirror image."""

    _dims, _mode = 1, "reflect"


class ReflectionPad2d(_Pad):
    """Pads the last two dimensions with their mirror image."""

    _dims, _mode = 2, "reflect"


class ReflectionPad3d(_Pad):
    """Pads the last three dimensions with their mirror image."""

    _dims, _mode = 3, "reflect"


class ReplicationPad1d(_Pad):
    """Pads the last dimension with its edges."""

    _dims, _mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    """Pads the last two dimensions with their edges."""

    _dims, _mode = 2, "replicate"


class ReplicationPad3d(_Pad):
    """Pads the last three dimensions with their edges."""

    _dims, _mode = 3, "replicate"


class CircularPad1d(_CircularPad):
    """Pads the last dimension with its other end."""

    _dims = 1


class CircularPad2d(_CircularPad):
    """Pads the last two dimensions with their other ends."""

    _dims = 2


class CircularPad3d(_CircularPad):
    """Pads the last three dimensions with their other ends."""

    _dims = 3
