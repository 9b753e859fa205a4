"""Copies of a module on other devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from retrograd.nn.modules.module import Module

__all__ = ["replicate"]


def replicate(network: Module, devices: Sequence[Any], detach: bool = False) -> list[Module]:
    """Copies of a module on other devices, of which there are none."""
    raise AssertionError("Broadcast function not implemented for CPU tensors")
