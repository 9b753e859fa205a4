"""The error for a name that is not there: it says which, and what is near."""

from __future__ import annotations

import difflib
import importlib
import sys

# Where people look for a name that is elsewhere.
_PLACES = ("", "nn", "nn.functional", "nn.utils", "linalg", "special", "fft", "optim", "func", "autograd", "utils", "utils.data")


class MissingName(AttributeError):
    """A name that a module of this package does not have. The words are put together when somebody reads them: hasattr() does not."""

    def __init__(self, module: str, name: str) -> None:
        super().__init__(module, name)
        self.module, self.missing = module, name

    def __str__(self) -> str:
        return f"module {self.module!r} has no attribute {self.missing!r}" + near(self.module, self.missing)

    def __reduce__(self) -> tuple[type[AttributeError], tuple[str]]:
        return AttributeError, (str(self),)


MissingName.__name__ = MissingName.__qualname__ = "AttributeError"  # in tracebacks
MissingName.__module__ = "builtins"


def near(module: str, name: str) -> str:
    """`: there are ...`, or nothing where nothing is near."""
    top = module.partition(".")[0]
    found = []
    for place in _PLACES:
        path = f"{top}.{place}".rstrip(".")
        if path != module and name in dir(importlib.import_module(path)):
            found.append(f"{path}.{name}")
    close = difflib.get_close_matches(name, [known for known in dir(sys.modules[module]) if not known.startswith("__")], 3, 0.6)
    found += [f"{module}.{known}" for known in close]
    return f". Near it: {', '.join(found)}" if found else ""
