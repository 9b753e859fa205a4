"""torch.mtia for machines without Meta's accelerator: it is not available, and what needs one raises."""

# ruff: noqa: F822 - refused() makes some of these names

from __future__ import annotations

from typing import Any

from retrograd._refusals import refused

__all__ = [
    "MTIAGraph", "attach_out_of_memory_observer", "current_device", "current_stream", "default_stream", "device", "device_count", "empty_cache",
    "get_device_capability", "get_device_properties", "get_rng_state", "get_rng_state_all", "graph", "graph_pool_handle", "init", "initial_seed",
    "is_available", "is_bf16_supported", "is_initialized", "manual_seed", "manual_seed_all", "max_memory_allocated", "memory_allocated",
    "memory_stats", "record_memory_history", "reset_peak_memory_stats", "seed", "seed_all", "set_device", "set_rng_state", "set_rng_state_all",
    "set_stream", "snapshot", "stream", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """Whether the accelerator can be used."""
    return False


def device_count() -> int:
    """The number of devices."""
    return 0


def is_initialized() -> bool:
    """Whether one was started."""
    return False


def memory_allocated(device: Any = None) -> int:
    """Bytes in use."""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes in use."""
    return 0


def memory_stats(device: Any = None) -> dict[str, Any]:
    """Counters of the device allocator."""
    return {}


_NEEDED = " ".join(name for name in __all__ if name not in globals())
globals().update(
    refused(__name__, _NEEDED, RuntimeError, "Cannot execute {name}() without MTIA backend: this build of retrograd computes on the CPU")
)
