"""Functions written in Python that __torch_function__ may take over."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

from retrograd import _C

F = TypeVar("F", bound=Callable[..., Any])


def overridable(function: F) -> F:
    """The function, asking modes and arguments with a `__torch_function__` first."""

    asking = _C._Overridable(function)
    functools.update_wrapper(asking, function)
    return asking


def all_overridable(namespace: dict[str, Any], names: list[str]) -> None:
    """Makes the functions of a module that are written in Python overridable; the native ones are."""
    for name in names:
        if type(namespace[name]) is FunctionType and not hasattr(namespace[name], "__wrapped__"):
            namespace[name] = overridable(namespace[name])
