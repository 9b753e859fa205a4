"""torch.backends.mps: Apple's GPU, which is not there."""

# ruff: noqa: F822 - refused() makes some of these names

from __future__ import annotations

from retrograd._refusals import refused

__all__ = ["get_core_count", "get_name", "is_available", "is_built", "is_macos13_or_newer", "is_macos_or_newer"]


def is_available() -> bool:
    """Whether it can be used."""
    return False


def is_built() -> bool:
    """Whether the library was built for it."""
    return False


_NEEDED = "get_core_count get_name is_macos13_or_newer is_macos_or_newer"
globals().update(
    refused(__name__, _NEEDED, RuntimeError, "Cannot execute {name}() without MPS backend: this build of retrograd computes on the CPU")
)
