"""Tools around the engine."""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    if name in ("checkpoint", "data", "dlpack", "hooks"):
        try:
            return importlib.import_module(f"retrograd.utils.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"retrograd.utils.{name}":
                raise
    raise AttributeError(f"module 'retrograd.utils' has no attribute {name!r}")
