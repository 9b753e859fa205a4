"""Ops written in Python over other ops: what is not on a hot path. The op table names them; see optable/README.md."""

from __future__ import annotations

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


def _lazy(name: str, target: str, parameters: str, doc: str, autocast: str, straight: tuple[Any, ...]) -> Callable[..., Any]:
    """A function that imports its implementation when it is first called, and lets __torch_function__ see the call. A call with few arguments may go
    `straight` to an op."""
    native = (getattr(_C._ops, straight[0]), straight[1]) if straight else ()
    said = {"__name__": name, "__qualname__": name, "__module__": "retrograd", "__doc__": doc, "__wrapped__": _Signature(parameters)}
    return _C._Overridable(target, said, autocast, *native)


def install(namespace: dict[str, Any]) -> None:
    """Adds the functions of the op table to `namespace`, and the methods that are written in Python to Tensor."""
    namespace.update({name: f for name, f in vars(_C._ops).items() if name not in ELSEWHERE and not name.startswith("__")})
    for name, variants, target, parameters, doc, autocast, straight in PYTHON_OPS:
        function = _lazy(name, target, parameters, doc, autocast, straight)
        if "function" in variants:
            namespace[name] = function
        if "method" in variants:
            setattr(_C.Tensor, name, function)
    for name in INPLACE_FUNCTIONS:
        namespace[name] = getattr(_C.Tensor, name)
