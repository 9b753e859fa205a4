"""Ops written in Python over other ops: what is not on a hot path. The op table names them; see optable/README.md."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from retrograd import _C
from retrograd._generated.python_ops import ELSEWHERE, INPLACE_FUNCTIONS, PYTHON_OPS


class _Signature:
    """Where inspect.signature() looks for the parameters of a function that has not been imported yet."""

    def __init__(self, parameters: str) -> None:
        self._parameters = parameters

    @property
    def __signature__(self) -> Any:
        import inspect  # here: it takes longer to import than all of this package

        return inspect.signature(eval(f"lambda {self._parameters}: None"))


_WORDS = {"Tensor": "Tensor", "float": "float", "int": "int", "bool": "bool", "str": "str", "int[+]": "tuple of ints"}


def _fits(value: Any, kind: str) -> bool:
    """Whether a value is of a type of the op table's schemas, as PyTorch reads it; those that have no word above take any."""
    if kind == "Tensor" or hasattr(value, "__torch_function__"):
        return hasattr(value, "__torch_function__")
    is_bool = isinstance(value, bool) or (type(value).__name__ in ("bool_", "bool") and hasattr(value, "dtype"))
    match kind:
        case "int":
            return hasattr(value, "__index__") and not is_bool
        case "float":
            return hasattr(value, "__float__") and getattr(value, "size", 1) == 1
        case "bool":
            return is_bool
        case "str":
            return isinstance(value, str)
        case "int[+]":
            return isinstance(value, (tuple, list))
    return True


def _blame(name: str, types: str, is_method: bool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """PyTorch's words for the first argument of a call that is of a wrong type, if one is."""
    place = 0 if is_method else 1
    for i, declared in enumerate(types.split(", ")):
        parameter, kind = declared.lstrip("*").split(" ")
        if i == 0 and parameter == "self":
            parameter = "input"
        if i < len(args) and not declared.startswith("*"):
            value, where = args[i], f" (position {i + place})"
        elif parameter in kwargs:
            value, where = kwargs[parameter], ""
        else:
            continue
        word = _WORDS.get(kind.rstrip("?"))
        if word and not (kind.endswith("?") and value is None) and not _fits(value, kind.rstrip("?")):
            given = type(value)
            shown = f"numpy.{given.__name__}" if given.__module__ == "numpy" else given.__name__
            if " Operand" in types:  # one of several overloads there
                return f"{name}() received an invalid combination of arguments - got {shown} for '{parameter}'"
            return f"{name}(): argument '{parameter}'{where} must be {word}, not {shown}"
    return None


def _lazy(
    name: str, target: str, parameters: str, doc: str, autocast: str, straight: tuple[Any, ...], types: str, is_method: bool = False
) -> Callable[..., Any]:
    """A function that imports its implementation when it is first called, and lets __torch_function__ see the call. A call with few arguments may go
    `straight` to an op. Of one that fails, and has an argument of a type that is not in `types`, that is what is said."""
    native = (getattr(_C._ops, straight[0]), straight[1]) if straight else ()
    said = {"__name__": name, "__qualname__": name, "__module__": "retrograd", "__doc__": doc, "__wrapped__": _Signature(parameters)}
    if types:
        said["__blame__"] = functools.partial(_blame, name, types, is_method)
    return _C._Overridable(target, said, autocast, *native)


def install(namespace: dict[str, Any]) -> None:
    """Adds the functions of the op table to `namespace`, and the methods that are written in Python to Tensor."""
    namespace.update({name: f for name, f in vars(_C._ops).items() if name not in ELSEWHERE and not name.startswith("__")})
    for name, variants, target, parameters, doc, autocast, straight, types in PYTHON_OPS:
        said = (name, target, parameters, doc, autocast, straight, types)
        if "function" in variants:
            namespace[name] = _lazy(*said)
        if "method" in variants:
            setattr(_C.Tensor, name, _lazy(*said, is_method=True))
    for name in INPLACE_FUNCTIONS:
        namespace[name] = getattr(_C.Tensor, name)
