"""torch.cuda.amp: the older names of `torch.autocast("cuda")` and `torch.amp.GradScaler("cuda")`."""

from __future__ import annotations

from retrograd.cuda.amp.autocast_mode import autocast, custom_bwd, custom_fwd
from retrograd.cuda.amp.common import amp_definitely_not_available
from retrograd.cuda.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "amp_definitely_not_available", "autocast", "custom_bwd", "custom_fwd"]
