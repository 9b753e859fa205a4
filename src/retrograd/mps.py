"""torch.mps for machines without Apple's GPU: it is not available, and what needs one raises."""

# ruff: noqa: F822 - refused() makes some of these names

from __future__ import annotations

from retrograd._refusals import refused

__all__ = [
    "Event", "compile_shader", "current_allocated_memory", "device_count", "driver_allocated_memory", "empty_cache", "get_rng_state", "is_available",
    "load_metallib", "manual_seed", "recommended_max_memory", "seed", "set_per_process_memory_fraction", "set_rng_state", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """Whether Apple's GPU can be used."""
    return False


def device_count() -> int:
    """The number of devices."""
    return 0


def manual_seed(seed: int) -> None:
    """Seeds the device, of which there is none."""


_NEEDED = " ".join(name for name in __all__ if name not in globals())
globals().update(
    refused(__name__, _NEEDED, RuntimeError, "Cannot execute {name}() without MPS backend: this build of retrograd computes on the CPU")
)
