"""Names that exist, to be imported and asked for by isinstance(), and say in words why they do nothing when they are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def refused(module: str, names: str, error: type[Exception], text: str) -> dict[str, Any]:
    """For globals().update(): a class for each name with a capital, a function for the others. `{name}` in the text is the name."""
    return {name: (_class if name.lstrip("_")[0].isupper() else _function)(module, name, error, text) for name in names.split()}


def _public(module: str, name: str) -> str:
    return f"torch{module[module.index('.') :] if '.' in module else ''}.{name}"


def _function(module: str, name: str, error: type[Exception], text: str) -> Callable[..., Any]:
    def function(*args: Any, **kwargs: Any) -> Any:
        raise error(text.format(name=_public(module, name)))

    function.__name__ = function.__qualname__ = name
    function.__module__ = module
    function.__doc__ = text.format(name=_public(module, name))
    return function


def _class(module: str, name: str, error: type[Exception], text: str) -> type:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        raise error(text.format(name=_public(module, name)))

    return type(name, (), {"__init__": __init__, "__module__": module, "__doc__": text.format(name=_public(module, name))})
