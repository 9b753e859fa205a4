"""Marks that TorchScript reads, and there is none here: they hand the function back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final as Final, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


class FunctionModifiers:
    """What a mark says of a function."""

    UNUSED = "unused (ignored and replaced with raising of an exception)"
    IGNORE = "ignore (leave as a call to Python, cannot be torch.jit.save'd)"
    EXPORT = "export (compile this function even if nothing calls it)"
    DEFAULT = "default (compile if called from a exported function / forward)"
    COPY_TO_SCRIPT_WRAPPER = "if this method is not scripted, copy the python method onto the scripted model"


def _copy_to_script_wrapper(fn: F) -> F:
    """A method that a scripted module would keep in Python."""
    fn._torchscript_modifier = FunctionModifiers.COPY_TO_SCRIPT_WRAPPER  # type: ignore[attr-defined]
    return fn


def _overload(func: F) -> F:
    """One of several signatures of a function."""
    return func


_overload_method = _overload


def is_scripting() -> bool:
    """Whether TorchScript runs this."""
    return False


def is_tracing() -> bool:
    """Whether a tracer runs this."""
    return False


def boolean_dispatch(
    arg_name: str,
    arg_index: int,
    default: bool,
    if_true: Callable[..., Any],
    if_false: Callable[..., Any],
    module_name: str,
    func_name: str,
) -> Callable[..., Any]:
    """A function that is one of two, as an argument says."""

    def function(*args: Any, **kwargs: Any) -> Any:
        chosen = kwargs[arg_name] if arg_name in kwargs else args[arg_index] if arg_index < len(args) else default
        return (if_true if chosen else if_false)(*args, **kwargs)

    function.__name__, function.__module__ = func_name, module_name
    return function


class _BroadcastingList:
    def __getitem__(self, types: Any) -> Any:
        return None


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = BroadcastingList4 = BroadcastingList5 = BroadcastingList6 = _BroadcastingList()


def __getattr__(name: str) -> Any:
    if name in ("ignore", "unused", "export"):  # where torch.jit has them
        import importlib

        return getattr(importlib.import_module("retrograd.jit"), name)
    from retrograd._missing import missing

    raise missing(__name__, name)
