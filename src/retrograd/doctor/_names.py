"""What the user calls things: parameters by their path in a model, objects by the variable that holds them."""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from types import FrameType, ModuleType
from typing import Any

from retrograd.doctor._places import is_package_file

_modules: dict[int, Any] = {}  # weak references to models that were called, by id


def remember(module: Any) -> None:
    """A model whose parameters have names."""
    key = id(module)
    if key not in _modules:
        _modules[key] = weakref.ref(module, lambda _: _modules.pop(key, None))


def forget() -> None:
    """The models that were called so far are of another program."""
    _modules.clear()


def models() -> list[Any]:
    """The models that are alive and were called from outside of any module, in the order of their first call."""
    return [module for ref in list(_modules.values()) if (module := ref()) is not None]


def user_frames() -> Iterator[FrameType]:
    """The running frames outside the package, innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not is_package_file(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


def _scopes() -> Iterator[dict[str, Any]]:
    """The variables of the program: of the functions that run, and of the main module."""
    for frame in user_frames():
        yield frame.f_locals
        yield frame.f_globals
    main = sys.modules.get("__main__")
    if main is not None:
        yield main.__dict__


def _inside(holder: Any, wanted: Any) -> str | None:
    """'[3]', '["loss"]' or '.weight': where an object is in a container or among the attributes of another."""
    if isinstance(holder, list | tuple | deque):
        return next((f"[{i}]" for i, item in enumerate(holder) if item is wanted), None)
    if isinstance(holder, dict):
        return next((f"[{key!r}]" for key, item in list(holder.items()) if item is wanted), None)
    members = getattr(holder, "__dict__", None)
    if type(members) is dict and not isinstance(holder, type | ModuleType):
        return next((f".{key}" for key, item in list(members.items()) if item is wanted), None)
    return None


def variable(wanted: Any) -> str | None:
    """The name of a variable that holds an object, or of the container or object in a variable that does: 'loss', 'losses[3]', 'self.loss'.

    For reports only: reading the locals of a frame makes the interpreter keep a copy of them.
    """
    scopes = [{name: value for name, value in list(scope.items()) if not name.startswith("__")} for scope in _scopes()]
    for scope in scopes:
        for name, value in scope.items():
            if value is wanted:
                return name
    for scope in scopes:
        for name, value in scope.items():
            if value is not wanted and (path := _inside(value, wanted)) is not None:
                return name + path
    return None


def model_name(module: Any) -> str:
    """'net' for the model that the variable net holds, else its class."""
    return variable(module) or type(module).__name__


def _named(modules: Iterable[Any]) -> list[Any]:
    """Models, and before a part of one that has no variable of its own the model in a variable that it is a part of: its forward() is not what is called."""
    found: dict[int, Any] = {}
    for module in modules:
        if variable(module) is None:
            held = (value for scope in _scopes() for name, value in list(scope.items()) if hasattr(type(value), "named_modules"))
            whole = next((value for value in held if any(part is module for part in value.modules())), module)
            found.setdefault(id(whole), whole)
        found.setdefault(id(module), module)
    return list(found.values())


def parameter(tensor: Any) -> str:
    """'net.2.weight', or the name of the variable, or the path from one, or the shape."""
    for module in _named(models()):
        for name, param in module.named_parameters():
            if param is tensor:
                return f"{model_name(module)}.{name}"
    return variable(tensor) or _path(tensor) or f"a tensor of shape {tuple(tensor.shape)}"


def _path(tensor: Any) -> str | None:
    """'net.heads[0].weight': where a tensor is in what the variables of the program hold, of which its model does not know."""
    from retrograd.doctor import _holders  # which needs the frames above

    holder = _holders.find([tensor], of_users_alone=True).get(id(tensor))
    return None if holder is None else holder.shown


def parameters(tensors: list[Any]) -> list[str]:
    """The same for many, with each model looked up once."""
    names: dict[int, str] = {}
    for module in _named(models()):
        prefix = None
        for name, param in module.named_parameters():
            if id(param) not in names and any(param is t for t in tensors):
                prefix = prefix or model_name(module)
                names[id(param)] = f"{prefix}.{name}"
    return [names.get(id(t)) or parameter(t) for t in tensors]


def shape(tensor: Any) -> str:
    return str(tuple(tensor.shape))
