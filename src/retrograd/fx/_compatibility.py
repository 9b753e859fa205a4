"""Marks of PyTorch on how stable a name of torch.fx is: they hand the function or class back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def compatibility(is_backward_compatible: bool) -> Callable[[T], T]:
    """Says whether a name will stay."""
    return lambda thing: thing
