"""Settings of a module that a block changes."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def changed(module: str, values: dict[str, Any]) -> Iterator[None]:
    """Sets variables of a module for a block."""
    variables = vars(sys.modules[module])
    before = {name: variables[name] for name in values}
    variables.update(values)
    try:
        yield
    finally:
        variables.update(before)
