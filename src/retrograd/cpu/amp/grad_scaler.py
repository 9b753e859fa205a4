"""torch.cpu.amp.GradScaler."""

from __future__ import annotations

from retrograd import amp
from retrograd.amp._older import deprecated

__all__ = ["GradScaler"]


class GradScaler(amp.GradScaler):
    """An older form of `torch.amp.GradScaler("cpu", ...)`."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        deprecated("cpu.amp.GradScaler", "amp.GradScaler('cpu', args...)")
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
