"""Ops written in Python over other ops: what is not on a hot path. The op table names them; see ops/README.md."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from retrograd import _C
from retrograd._generated.python_ops import PYTHON_OPS


def _lazy(name: str, target: str) -> Callable[..., Any]:
    """A function that imports its implementation when it is first called, and lets __torch_function__ see the call."""
    module, _, attribute = target.partition(":")
    implementation: Callable[..., Any] | None = None

    def function(*args: Any, **kwargs: Any) -> Any:
        nonlocal implementation
        if implementation is None:
            implementation = getattr(importlib.import_module(module), attribute)
            functools.update_wrapper(function, implementation)
            function.__name__ = name
        if _C._is_torch_function_mode_enabled() or any(map(_C._has_torch_function, args)):
            return _C._call_torch_function(function, args, kwargs)
        return implementation(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__module__ = "retrograd"
    return function


def install(namespace: dict[str, Any]) -> None:
    """Adds the functions to `namespace` and the methods to Tensor."""
    for name, variants, target in PYTHON_OPS:
        function = _lazy(name, target)
        if "function" in variants:
            namespace[name] = function
        if "method" in variants:
            setattr(_C.Tensor, name, function)
        if "inplace" in variants:
            setattr(_C.Tensor, name + "_", _lazy(name + "_", target + "_"))
