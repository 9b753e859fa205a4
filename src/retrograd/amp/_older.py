"""The names that autocast and GradScaler had for one kind of device: `torch.cuda.amp` and `torch.cpu.amp`."""

from __future__ import annotations

import warnings

OLD = "`torch.{old}(args...)` is deprecated. Please use `torch.{new}` instead."


def deprecated(old: str, new: str) -> None:
    """Warns at the caller of the function that calls this."""
    warnings.warn(OLD.format(old=old, new=new), FutureWarning, stacklevel=3)
