"""Pinned memory, which only an accelerator has a use for."""

from __future__ import annotations

from typing import Any


def pin_memory(data: Any, device: Any = None) -> Any:
    """The data as it is: there is no accelerator to pin memory for."""
    return data
