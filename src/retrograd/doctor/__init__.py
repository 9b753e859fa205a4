"""Watches for mistakes that would pass in silence.

What is checked now: memory that was saved for backward and is shared with NumPy or through DLPack. A write from outside moves no version counter, so such
tensors leave a fingerprint when they are saved and it is compared in backward. By default that is done up to `MEMORY_CHECK_BYTES`; in strict
mode for every size. Memory that was never shared is not fingerprinted: its writes are counted.
"""

from __future__ import annotations

import os
from typing import Any

from retrograd import _C

__all__ = ["MEMORY_CHECK_BYTES", "is_strict", "strict"]

MEMORY_CHECK_BYTES = 16384

_strict = os.environ.get("RETROGRAD_STRICT", "0") not in ("", "0")  # read by the core, too, when it is loaded


def is_strict() -> bool:
    """Whether checks that cost more are on."""
    return _strict


def _set(on: bool) -> None:
    global _strict
    _strict = on
    _C._set_memory_check(-1 if on else MEMORY_CHECK_BYTES)


class strict:
    """Makes every check, also those that cost more. Works at once, and as a context manager until the block ends.

    Example:
        >>> import retrograd as torch
        >>> weights = torch.ones(10_000, requires_grad=True)
        >>> data = torch.ones(10_000)
        >>> with torch.doctor.strict():
        ...     loss = (weights * data).sum()
        ...     data.numpy()[0] = 5.0  # backward needs the data as it was
        ...     try:
        ...         loss.backward()
        ...     except RuntimeError as error:
        ...         print("written from outside" in str(error))
        True
    """

    def __init__(self, mode: bool = True) -> None:
        self._before = _strict
        _set(bool(mode))

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc_info: Any) -> None:
        _set(self._before)
