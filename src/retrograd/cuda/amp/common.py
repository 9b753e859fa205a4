"""torch.cuda.amp.common."""

from __future__ import annotations

__all__ = ["amp_definitely_not_available"]


def amp_definitely_not_available() -> bool:
    """Whether there is no device that torch.cuda.amp is for."""
    return True
