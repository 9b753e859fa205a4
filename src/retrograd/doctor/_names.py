"""What the user calls things: parameters by their path in a model, objects by the variable that holds them."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator
from types import FrameType
from typing import Any

_modules: dict[int, Any] = {}  # weak references to models that were called, by id


def remember(module: Any) -> None:
    """A model whose parameters have names."""
    key = id(module)
    if key not in _modules:
        _modules[key] = weakref.ref(module, lambda _: _modules.pop(key, None))


def models() -> list[Any]:
    """The models that are alive and were called from outside of any module, in the order of their first call."""
    return [module for ref in list(_modules.values()) if (module := ref()) is not None]


def _is_ours(frame: FrameType) -> bool:
    name = frame.f_globals.get("__name__", "")
    return isinstance(name, str) and name.partition(".")[0] == "retrograd"


def user_frames() -> Iterator[FrameType]:
    """The running frames outside the package, innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not _is_ours(frame):
            yield frame
        frame = frame.f_back


def variable(wanted: Any) -> str | None:
    """The name of a variable, or of an attribute of `self`, that holds an object, in the frames that run.

    For reports only: reading the locals of a frame makes the interpreter keep a copy of them.
    """
    for frame in user_frames():
        for scope in (frame.f_locals, frame.f_globals):
            for name, value in list(scope.items()):
                if value is wanted and not name.startswith("__"):
                    return name
        for holder_name, holder in list(frame.f_locals.items()):
            members = getattr(holder, "__dict__", None)
            if type(members) is dict and not isinstance(holder, type(sys)):
                for name, value in list(members.items()):
                    if value is wanted:
                        return f"{holder_name}.{name}"
    return None


def model_name(module: Any) -> str:
    """'net' for the model that the variable net holds, else its class."""
    return variable(module) or type(module).__name__


def parameter(tensor: Any) -> str:
    """'net.2.weight', or the name of the variable, or the shape."""
    for module in models():
        for name, param in module.named_parameters():
            if param is tensor:
                return f"{model_name(module)}.{name}"
    return variable(tensor) or f"a tensor of shape {tuple(tensor.shape)}"


def parameters(tensors: list[Any]) -> list[str]:
    """The same for many, with each model looked up once."""
    names: dict[int, str] = {}
    for module in models():
        prefix = None
        for name, param in module.named_parameters():
            if id(param) not in names and any(param is t for t in tensors):
                prefix = prefix or model_name(module)
                names[id(param)] = f"{prefix}.{name}"
    return [names.get(id(t)) or parameter(t) for t in tensors]


def shape(tensor: Any) -> str:
    return str(tuple(tensor.shape))
