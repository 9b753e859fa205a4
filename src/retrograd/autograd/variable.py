"""PyTorch's name for tensors from the time when they were two things."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from retrograd import _C
from retrograd._C import Tensor

__all__ = ["Variable", "VariableMeta"]


class VariableMeta(type):
    def __instancecheck__(cls, other: object) -> bool:
        return isinstance(other, Tensor)


class _Engine:
    """What libraries reach for on PyTorch's engine object."""

    @staticmethod
    def queue_callback(callback: Callable[[], Any]) -> None:
        """Calls `callback` when the backward that is running has finished."""
        _C._queue_callback(callback)


class Variable(metaclass=VariableMeta):
    """PyTorch's old name: tensors are variables."""

    _execution_engine = _Engine()

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = False, volatile: bool = False) -> Tensor:  # type: ignore[misc]
        if data is None:
            data = _C._ops.empty((0,))
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        if requires_grad and not data.is_floating_point():
            raise RuntimeError(f"Only Tensors of floating point and complex dtype can require gradients, and this one is of {data.dtype}")
        out = data.detach() if requires_grad or data.requires_grad else data
        return out.requires_grad_(requires_grad)
