"""torch.backends.mkldnn: Intel's library for layers, which is not used. Its settings are kept."""

from __future__ import annotations

import contextlib

from retrograd.backends._flags import changed
from retrograd.backends.mkl import VERBOSE_OFF as VERBOSE_OFF, VERBOSE_ON as VERBOSE_ON, verbose as verbose

__all__ = ["VERBOSE_OFF", "VERBOSE_ON", "VERBOSE_ON_CREATION", "flags", "is_acl_available", "is_available", "set_flags", "verbose"]

VERBOSE_ON_CREATION = 2
enabled: bool = True
deterministic: bool = False
allow_tf32: bool | None = None


def is_available() -> bool:
    """Whether it is used."""
    return False


def is_acl_available() -> bool:
    """Whether it is used with ARM's library."""
    return False


def set_flags(
    _enabled: bool | None = None, _deterministic: bool | None = None, _allow_tf32: bool | None = None
) -> tuple[bool, bool, bool | None]:
    """Sets what is given, and returns what was."""
    before = (enabled, deterministic, allow_tf32)
    given = {"enabled": _enabled, "deterministic": _deterministic, "allow_tf32": _allow_tf32}
    globals().update({name: value for name, value in given.items() if value is not None})
    return before


def flags(enabled: bool = False, deterministic: bool = False, allow_tf32: bool = True) -> contextlib.AbstractContextManager[None]:
    """Sets all for a block."""
    return changed(__name__, {"enabled": enabled, "deterministic": deterministic, "allow_tf32": allow_tf32})
