"""torch.accelerator: the device beside the CPU, which there is not. Questions are answered; what needs one raises."""

# ruff: noqa: F822 - refused() makes some of these names

from __future__ import annotations

from typing import Any

from retrograd._refusals import refused

__all__ = [
    "Graph", "current_accelerator", "current_device_idx", "current_device_index", "current_stream", "device_count", "device_index", "empty_cache",
    "empty_host_cache", "get_device_capability", "get_memory_info", "is_available", "max_memory_allocated", "max_memory_reserved",
    "memory_allocated", "memory_reserved", "memory_stats", "reset_accumulated_memory_stats", "reset_peak_memory_stats", "set_device_idx",
    "set_device_index", "set_stream", "synchronize",
]  # fmt: skip

_NONE = "Cannot access accelerator device when none is available."


def is_available() -> bool:
    """Whether there is an accelerator."""
    return False


def device_count() -> int:
    """The number of accelerators."""
    return 0


def current_accelerator(check_available: bool = False) -> Any:
    """The accelerator, or None."""
    return None


class device_index:
    """Chooses an accelerator for a block; None chooses none."""

    def __init__(self, device: int | None, /) -> None:
        self.idx = device

    def __enter__(self) -> None:
        if self.idx is not None:
            raise RuntimeError(_NONE)

    def __exit__(self, *error: object) -> None:
        pass


globals().update(refused(__name__, " ".join(name for name in __all__ if name not in globals()), RuntimeError, _NONE))
