"""DLPack: memory shared with other array libraries."""

from __future__ import annotations

from typing import Any

from retrograd._C import Tensor
from retrograd._ops.create import from_dlpack

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor: Tensor) -> Any:
    """A DLPack capsule on the memory of a tensor. It can be consumed once."""
    return tensor.__dlpack__()
