"""Forward mode: dual tensors, which carry the derivative along a direction through the ops.

Example::

    >>> import retrograd as torch
    >>> from retrograd.autograd import forward_ad
    >>> x = torch.tensor([1.0, 2.0])
    >>> with forward_ad.dual_level():
    ...     dual = forward_ad.make_dual(x, torch.tensor([1.0, 0.0]))
    ...     value, tangent = forward_ad.unpack_dual((dual**2).sum())
    >>> value.item(), tangent.item()
    (5.0, 2.0)
"""

from __future__ import annotations

from typing import Any, NamedTuple

from retrograd import _C
from retrograd._C import Tensor, _DecoratorContextManager

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]

# This API has one level at a time, 0; func.jvp nests levels of its own.
_current_level = -1
_native_level = 0


class UnpackedDualTensor(NamedTuple):
    """What unpack_dual() returns."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Enters a level: from now on tangents can be made. Returns the number of the level, for exit_dual_level()."""
    global _current_level, _native_level
    if _current_level >= 0:
        raise RuntimeError("Nested forward mode AD is not supported at the moment. For derivatives of derivatives use retrograd.func.jvp.")
    _native_level = _C._enter_dual_level()
    _current_level = 0
    return _current_level


def exit_dual_level(*, level: int | None = None) -> None:
    """Leaves the level; all tangents made in it are gone."""
    global _current_level, _native_level
    if _current_level < 0:
        raise RuntimeError("Dual level must be a positive number: no level has been entered.")
    if level is not None and level != _current_level:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported. "
            f"The current level is {_current_level}, given was {level}."
        )
    _C._exit_dual_level(_native_level)
    _current_level, _native_level = -1, 0


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A view of tensor that carries tangent through what is computed from it.

    The tangent is that very tensor where it lies in its memory as `tensor` does (sizes, strides, offset, length of the memory), else a copy. What is
    written to it later counts, and a write in place to the dual tensor writes to it.

    Args:
        tensor: the value, floating point.
        tangent: the direction, of the same shape.
        level: the number enter_dual_level() gave; the current one by default.
    """
    _check_level(level, "make")
    for name, given in (("primal", tensor), ("tangent", tangent)):
        if not (given.is_floating_point() or given.is_complex()):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {given.dtype}")
    return _C._make_dual(tensor, tangent, _native_level)


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The value of a tensor and its tangent, None where it has none."""
    if _current_level < 0:
        return UnpackedDualTensor(tensor, None)
    if level is not None and level < 0:
        return UnpackedDualTensor(tensor, None)
    _check_level(level, "unpack")
    return UnpackedDualTensor(*_C._unpack_dual(tensor, _native_level))


def _check_level(level: int | None, verb: str) -> None:
    if _current_level < 0:
        raise RuntimeError("Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.")
    if level is not None and level != _current_level:
        raise RuntimeError(f"Invalid level given to _{verb}_dual: {level} is not the current one, {_current_level}")


_is_fwd_grad_enabled = _C._is_fwd_grad_enabled


class _set_fwd_grad_enabled(_DecoratorContextManager):
    """Switches forward mode on or off, at once; as a context manager until the end of the block."""

    def __init__(self, mode: bool) -> None:
        self.prev = _C._set_fwd_grad_enabled(mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        _C._set_fwd_grad_enabled(self.prev)


class dual_level(_DecoratorContextManager):
    """Enters a level for a block, or for the calls of the function it decorates."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        exit_dual_level()
