"""torch.backends.opt_einsum: the order in which einsum contracts. Here it is the order of the operands."""

from __future__ import annotations

import contextlib
from typing import Any

from retrograd.backends._flags import changed

__all__ = ["flags", "get_opt_einsum", "is_available", "set_flags"]

enabled: bool = False
strategy: str | None = None


def is_available() -> bool:
    """Whether opt_einsum chooses the order."""
    return False


def get_opt_einsum() -> Any:
    """The library, or None."""
    return None


def set_flags(_enabled: bool | None = None, _strategy: str | None = None) -> tuple[bool, str | None]:
    """Sets what is given, and returns what was."""
    if _enabled:
        raise ValueError("opt_einsum is not used here, so it cannot be enabled")
    return enabled, strategy


def flags(enabled: bool | None = None, strategy: str | None = None) -> contextlib.AbstractContextManager[None]:
    """Sets both for a block."""
    set_flags(enabled, strategy)
    return changed(__name__, {})
