"""torch.cuda for machines without a GPU: questions are answered, anything that needs a device says so."""

from __future__ import annotations

from typing import Any

__all__ = [
    "current_device", "device_count", "empty_cache", "get_device_name", "get_device_properties", "init", "is_available",
    "is_bf16_supported", "is_initialized", "manual_seed", "manual_seed_all", "max_memory_allocated", "memory_allocated", "memory_reserved",
    "reset_peak_memory_stats", "seed_all", "set_device", "synchronize",
]  # fmt: skip


class OutOfMemoryError(RuntimeError):
    """Raised when a device runs out of memory."""


def is_available() -> bool:
    """Whether a CUDA device can be used: not in this build."""
    return False


def device_count() -> int:
    """The number of CUDA devices."""
    return 0


def is_initialized() -> bool:
    """Whether CUDA was started."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the current device computes in bfloat16."""
    return False


def _unavailable(name: str) -> Any:
    raise RuntimeError(f"torch.cuda.{name}: no CUDA GPUs are available; this build of retrograd computes on the CPU")


def init() -> None:
    """Starts CUDA."""
    _unavailable("init")


def current_device() -> int:
    """The index of the current device."""
    return _unavailable("current_device")


def set_device(device: Any) -> None:
    """Chooses the current device."""
    _unavailable("set_device")


def get_device_name(device: Any = None) -> str:
    """The name of a device."""
    return _unavailable("get_device_name")


def get_device_properties(device: Any = None) -> Any:
    """What a device can do."""
    return _unavailable("get_device_properties")


def synchronize(device: Any = None) -> None:
    """Waits for a device."""
    _unavailable("synchronize")


# As in PyTorch, these do nothing where there is no device.


def manual_seed(seed: int) -> None:
    """Seeds the current device."""


def manual_seed_all(seed: int) -> None:
    """Seeds all devices."""


def seed_all() -> None:
    """Seeds all devices from the system's entropy."""


def empty_cache() -> None:
    """Gives unused device memory back."""


def memory_allocated(device: Any = None) -> int:
    """Bytes in use on a device."""
    return 0


def memory_reserved(device: Any = None) -> int:
    """Bytes taken from a device."""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes in use on a device."""
    return 0


def reset_peak_memory_stats(device: Any = None) -> None:
    """Starts the peak again."""
