"""Functions written in Python that __torch_function__ may take over."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, TypeVar

from retrograd import _C

F = TypeVar("F", bound=Callable[..., Any])


def autocast(policy: str) -> Callable[[F], F]:
    """Says how autocast runs a function that is not in the op table: one of the words of optable/facts.py."""

    def said(function: F) -> F:
        vars(function)["autocast"] = policy
        return function

    return said


def overridable(function: F, most: int = 0, prefix: str = "", native: Callable[..., Any] | None = None) -> F:
    """The function, asking modes and arguments with a `__torch_function__` first.

    Where it only hands its first `most` arguments to the op of its name, after `prefix`, unless `inplace` is asked for, a call with these alone goes to the op at once;
    or to `native`, which gives NotImplemented where it takes the function. All but the first have the same names there.
    """
    code: Any = getattr(function, "__code__", None)
    op = native if native else getattr(_C._ops, prefix + function.__name__) if most else None
    names = tuple(code.co_varnames[1:most]) if most else ()
    asking = _C._Overridable(function, None, vars(function).get("autocast"), op, most, most != 0 and "inplace" in code.co_varnames, names)
    functools.update_wrapper(asking, function)
    return asking


def offer(namespace: dict[str, Any], straight: Mapping[str, int] | None = None, prefix: str = "") -> None:
    """Makes the functions written in Python that a module of the API names its own: they say that they are from there, where pickle finds
    them, and are overridable, some `straight` to the op `prefix` and their name. The native ones are already."""
    for name in namespace["__all__"]:
        function = namespace[name]
        if type(function) is FunctionType and not hasattr(function, "__wrapped__"):
            function.__module__ = namespace["__name__"]
            namespace[name] = overridable(function, (straight or {}).get(name, 0), prefix)
