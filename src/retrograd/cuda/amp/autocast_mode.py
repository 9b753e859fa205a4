"""torch.cuda.amp.autocast, custom_fwd and custom_bwd."""

from __future__ import annotations

from typing import Any

from retrograd import _C, amp
from retrograd.amp._older import deprecated

__all__ = ["autocast", "custom_bwd", "custom_fwd"]


class autocast(amp.autocast):
    """An older form of `torch.amp.autocast("cuda", ...)`."""

    def __init__(self, enabled: bool = True, dtype: _C.dtype = _C.float16, cache_enabled: bool = True) -> None:
        deprecated("cuda.amp.autocast", "amp.autocast('cuda', args...)")
        super().__init__("cuda", dtype, enabled, cache_enabled)


def custom_fwd(fwd: Any = None, *, cast_inputs: _C.dtype | None = None) -> Any:
    """An older form of `torch.amp.custom_fwd(..., device_type="cuda")`."""
    deprecated("cuda.amp.custom_fwd", "amp.custom_fwd(args..., device_type='cuda')")
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any) -> Any:
    """An older form of `torch.amp.custom_bwd(..., device_type="cuda")`."""
    deprecated("cuda.amp.custom_bwd", "amp.custom_bwd(args..., device_type='cuda')")
    return amp.custom_bwd(bwd, device_type="cuda")
