"""torch.xpu for machines without an Intel GPU: what PyTorch built without it says and does. See retrograd.cuda."""

# ruff: noqa: F822 - refused() makes some of these names

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from retrograd._refusals import refused

__all__ = [
    "Event", "MemPool", "Stream", "StreamContext", "XPUGraph", "XPUPluggableAllocator", "can_device_access_peer", "change_current_allocator",
    "current_device", "current_stream", "default_generators", "device", "device_count", "device_of", "empty_cache", "get_arch_list",
    "get_device_capability", "get_device_name", "get_device_properties", "get_gencode_flags", "get_per_process_memory_fraction", "get_rng_state",
    "get_rng_state_all", "get_stream_from_external", "graph", "graph_pool_handle", "init", "initial_seed", "is_available", "is_bf16_supported",
    "is_current_stream_capturing", "is_initialized", "is_tf32_supported", "make_graphed_callables", "manual_seed", "manual_seed_all",
    "max_memory_allocated", "max_memory_reserved", "mem_get_info", "memory_allocated", "memory_reserved", "memory_snapshot", "memory_stats",
    "memory_stats_as_nested_dict", "reset_accumulated_memory_stats", "reset_peak_memory_stats", "seed", "seed_all", "set_device",
    "set_per_process_memory_fraction", "set_rng_state", "set_rng_state_all", "set_stream", "stream", "synchronize", "use_mem_pool",
]  # fmt: skip

_WITHOUT = "Torch not compiled with XPU enabled: this build of retrograd computes on the CPU"
default_generators: tuple[Any, ...] = ()


def is_available() -> bool:
    """Whether an Intel GPU can be used."""
    return False


def device_count() -> int:
    """The number of Intel GPUs."""
    return 0


def is_initialized() -> bool:
    """Whether one was started."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether one computes in bfloat16."""
    return False


def is_tf32_supported() -> bool:
    """Whether one computes in tf32."""
    return False


def get_arch_list() -> list[str]:
    """The architectures the library was built for."""
    return []


def get_gencode_flags() -> str:
    """The compiler flags it was built with."""
    return ""


def manual_seed(seed: int) -> None:
    """Seeds the current device, of which there is none."""


def manual_seed_all(seed: int) -> None:
    """Seeds all devices, of which there is none."""


def seed() -> None:
    """Seeds the current device from the system's entropy."""


def seed_all() -> None:
    """Seeds all devices from the system's entropy."""


def get_rng_state_all() -> list[Any]:
    """The states of the generators of all devices."""
    return []


def empty_cache() -> None:
    """Gives unused device memory back."""


def memory_stats(device: Any = None) -> OrderedDict[str, Any]:
    """Counters of the device allocator."""
    return OrderedDict()


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    """The same, nested."""
    return {}


def memory_allocated(device: Any = None) -> int:
    """Bytes in use."""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes in use."""
    return 0


def memory_reserved(device: Any = None) -> int:
    """Bytes taken from the device."""
    return 0


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes taken from the device."""
    return 0


globals().update(refused(__name__, " ".join(name for name in __all__ if name not in globals()), AssertionError, _WITHOUT))
