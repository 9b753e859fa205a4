"""What PyTorch has as `torch._C._functions`: the types of graph nodes by their names, and two nodes that can be put on tensors by hand."""

from __future__ import annotations

from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd._generated.python_ops import NODES

_SPECIAL = {"AccumulateGrad", "CopySlices", "Error", "UndefinedGradBackward"}


def __getattr__(name: str) -> Any:
    if name in NODES or name in _SPECIAL:
        return _C._node_type(name)
    raise AttributeError(f"module 'retrograd._C._functions' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*NODES, *_SPECIAL, "DelayedError", "UndefinedGrad"})


def _one_or_all(outputs: tuple[Any, ...]) -> Any:
    return outputs[0] if len(outputs) == 1 else outputs


class DelayedError:
    """The identity on `num_inputs` tensors, until somebody differentiates it: that is a RuntimeError with this message."""

    def __init__(self, message: str | bytes, num_inputs: int) -> None:
        self.message = message.decode() if isinstance(message, bytes) else message
        self.num_inputs = num_inputs

    def __call__(self, *tensors: Tensor | None) -> Any:
        if len(tensors) != self.num_inputs:
            raise TypeError(f"expected {self.num_inputs} arguments, got {len(tensors)} instead")
        return _one_or_all(_C._delayed_error(self.message, tensors))


class UndefinedGrad:
    """The identity, with no gradient behind it."""

    def __call__(self, *tensors: Tensor | None) -> Any:
        return _one_or_all(_C._undefined_grad(tensors))
