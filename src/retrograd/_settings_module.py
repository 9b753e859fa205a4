"""Modules of settings for a compiler that is not there: what is assigned is kept and changes nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import ModuleType
from typing import Any


class SettingsModule(ModuleType):
    """The class to give such a module. Reading a name that has no default and was not set is an error."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"torch{self.__name__.removeprefix('retrograd')}.{name} does not exist")

    @contextlib.contextmanager
    def patch(self, arg1: Any = None, arg2: Any = None, **changes: Any) -> Iterator[None]:
        """Other values until the block ends: by name, as a dict, or as a name and a value."""
        if isinstance(arg1, str):
            changes = {arg1: arg2}
        elif arg1 is not None:
            changes = dict(arg1)
        before = {name: self.__dict__[name] for name in changes if name in self.__dict__}
        self.__dict__.update(changes)
        try:
            yield
        finally:
            for name in changes:
                self.__dict__.pop(name, None)
            self.__dict__.update(before)


class Group:
    """A group of settings inside a module: `config.triton.cudagraphs`."""

    def __init__(self, **defaults: Any) -> None:
        self.__dict__.update(defaults)
