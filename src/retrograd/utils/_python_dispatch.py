"""`TorchDispatchMode`: a mode that sees every op, those of derivatives and composites included, through the stack of op handlers."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

import retrograd as torch
from retrograd import _C

__all__ = ["TorchDispatchMode", "is_traceable_wrapper_subclass", "is_traceable_wrapper_subclass_type", "return_and_correct_aliasing"]

_active: list[TorchDispatchMode] = []


class TorchDispatchMode:
    """Inside a block, each op of the table that runs is handed to `__torch_dispatch__`, which calls it or something else.

    Example::

        >>> class Printing(TorchDispatchMode):
        ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        ...         print(func)
        ...         return func(*args, **(kwargs or {}))
    """

    def __init__(self, _dispatch_key: Any = None) -> None:
        pass

    def __torch_dispatch__(self, func: Any, types: Sequence[type], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has to define __torch_dispatch__")

    def _handle(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if op.composite:  # what it is made of comes here too
            return op(*args, **kwargs)
        return self.__torch_dispatch__(op, (), args, kwargs)

    def __enter__(self) -> TorchDispatchMode:
        _C._push_op_handler(self._handle)
        _active.append(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        _active.remove(self)
        _C._pop_op_handler()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> TorchDispatchMode:
        """The mode, to enter."""
        return cls(*args, **kwargs)


BaseTorchDispatchMode = TorchDispatchMode


def _get_current_dispatch_mode() -> TorchDispatchMode | None:
    return _active[-1] if _active else None


def _get_current_dispatch_mode_stack() -> list[TorchDispatchMode]:
    return list(_active)


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    """Whether a mode is active."""
    return bool(_active)


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """Whether a class of tensors says how to take them apart."""
    return issubclass(t, torch.Tensor) and t is not torch.Tensor and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")


def is_traceable_wrapper_subclass(t: object) -> bool:
    """Whether something is a tensor of a class that says how to take it apart."""
    return is_traceable_wrapper_subclass_type(type(t))


def return_and_correct_aliasing(func: Any, args: Any, kwargs: Any, out: Any) -> Any:
    """The result of an op: for one that writes, the argument it wrote to."""
    if func.mutates:
        names = [p.name for p in func.parameters]
        written = [args[names.index(n)] if names.index(n) < len(args) else (kwargs or {}).get(n) for n in func.mutates if n in names]
        if isinstance(out, torch.Tensor) and len(written) == 1 and isinstance(written[0], torch.Tensor):
            return written[0]
    return out
