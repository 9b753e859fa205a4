"""Automatic mixed precision: `autocast` lets ops choose their precision, `GradScaler` keeps small gradients in range.

How an op runs under autocast is a fact of its entry in the op table; csrc/ops/autocast.h casts.
"""

from __future__ import annotations

from retrograd.amp.autocast_mode import (
    _enter_autocast as _enter_autocast,
    _exit_autocast as _exit_autocast,
    autocast,
    custom_bwd,
    custom_fwd,
    is_autocast_available,
)
from retrograd.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
