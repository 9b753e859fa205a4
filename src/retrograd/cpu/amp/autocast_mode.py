"""torch.cpu.amp.autocast."""

from __future__ import annotations

from retrograd import _C, amp
from retrograd.amp._older import deprecated

__all__ = ["autocast"]


class autocast(amp.autocast):
    """An older form of `torch.amp.autocast("cpu", ...)`."""

    def __init__(self, enabled: bool = True, dtype: _C.dtype = _C.bfloat16, cache_enabled: bool = True) -> None:
        deprecated("cpu.amp.autocast", "amp.autocast('cpu', args...)")
        super().__init__("cpu", dtype, enabled, cache_enabled)
