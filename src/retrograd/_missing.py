"""The error for a name that is not there: it says which, and what is near. Words are put together when somebody reads them: hasattr() and
`except ImportError` do not."""

from __future__ import annotations

import difflib
import importlib
import opcode
import sys
from typing import Any

# Where people look for a name that is elsewhere.
_PLACES = ("", "nn", "nn.functional", "nn.utils", "linalg", "special", "fft", "optim", "func", "autograd", "utils", "utils.data")
_IMPORT_FROM = opcode.opmap["IMPORT_FROM"]


def missing(module: str, name: str) -> AttributeError | ImportError:
    """What the __getattr__ of a module raises. Who asks is the frame that called it: a `from module import name` gets an ImportError, since in place of an
    AttributeError Python puts one with words of its own."""
    asking = sys._getframe(2)
    if asking.f_lasti >= 0 and asking.f_code.co_code[asking.f_lasti] == _IMPORT_FROM and f"{module}.{name}" not in sys.modules:
        return MissingImport(module, name)
    return MissingName(module, name)


class MissingName(AttributeError):
    """A name that a module of this package does not have."""

    def __init__(self, module: str, name: str) -> None:
        super().__init__(module, name)
        self.module, self.missing = module, name

    def __str__(self) -> str:
        return f"module {self.module!r} has no attribute {self.missing!r}" + near(self.module, self.missing)

    def __reduce__(self) -> tuple[type[AttributeError], tuple[str]]:
        return AttributeError, (str(self),)


class MissingImport(ImportError):
    """The same, of an import."""

    def __init__(self, module: str, name: str) -> None:
        super().__init__(name=module, path=getattr(sys.modules[module], "__file__", None))
        self.module, self.missing = module, name

    def __str__(self) -> str:
        return f"cannot import name {self.missing!r} from {self.module!r} ({self.path or 'unknown location'})" + near(
            self.module, self.missing
        )

    def __reduce__(self) -> Any:
        return ImportError, (str(self),)


class MissingModule(ModuleNotFoundError):
    """A module that this package does not have."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name)

    def __str__(self) -> str:
        module, _, name = str(self.name).rpartition(".")
        return f"No module named {self.name!r}" + near(module, name, modules=True)

    def __reduce__(self) -> Any:
        return ModuleNotFoundError, (str(self),)


for _kind in (MissingName, MissingImport, MissingModule):  # in tracebacks
    _kind.__name__ = _kind.__qualname__ = _kind.__mro__[1].__name__
    _kind.__module__ = "builtins"


def near(module: str, name: str, modules: bool = False) -> str:
    """`. Near it: ...`, or nothing where nothing is near."""
    top = module.partition(".")[0]
    found = []
    for place in _PLACES:
        path = f"{top}.{place}".rstrip(".")
        if (path != module or modules) and name in dir(importlib.import_module(path)):
            found.append(f"{path}.{name}")
    there = sys.modules[module]
    known = {known for known in dir(there) if not known.startswith("__")}
    if modules:
        import pkgutil

        parts = {each.name for each in pkgutil.iter_modules(getattr(there, "__path__", ()))}
        known |= {part for part in parts if part.startswith("_") == name.startswith("_")}
    found += [f"{module}.{close}" for close in difflib.get_close_matches(name, known, 3, 0.6)]
    return f". Near it: {', '.join(dict.fromkeys(found))}" if found else ""
