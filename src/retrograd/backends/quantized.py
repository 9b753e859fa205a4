"""torch.backends.quantized: there are no quantised kernels."""

from __future__ import annotations

__all__ = ["engine", "supported_engines"]

engine: str = "none"
supported_engines: list[str] = []
