"""torch.cuda for machines without a GPU: what PyTorch built without CUDA says and does.

Questions are answered (no device, no memory), seeds are ignored, and whatever needs a device raises AssertionError. Where PyTorch's own
build fails by accident, with an AttributeError or KeyError from its inside (reset_peak_memory_stats(), memory_summary(), set_device(0)),
this one raises the same AssertionError.
"""

from __future__ import annotations

import importlib
from collections import OrderedDict
from typing import Any, NoReturn

import retrograd
from retrograd import _types
from retrograd._C import Tensor
from retrograd._refusals import refused
from retrograd.cuda import amp as amp

__all__ = [
    "AcceleratorError", "Event", "OutOfMemoryError", "Stream", "can_device_access_peer", "current_device", "current_stream", "default_stream", "device",
    "device_count", "device_of", "empty_cache", "get_arch_list", "get_device_capability", "get_device_name", "get_device_properties",
    "get_gencode_flags", "get_rng_state", "get_rng_state_all", "host_memory_stats", "init", "initial_seed", "ipc_collect", "is_available",
    "is_bf16_supported", "is_initialized", "is_tf32_supported", "manual_seed", "manual_seed_all", "max_memory_allocated",
    "max_memory_reserved", "mem_get_info", "memory_allocated", "memory_reserved", "memory_snapshot", "memory_stats",
    "memory_stats_as_nested_dict", "memory_summary", "reset_accumulated_memory_stats", "reset_peak_memory_stats", "seed", "seed_all",
    "set_device", "set_per_process_memory_fraction", "stream", "synchronize",
]  # fmt: skip

has_half = True
has_magma = False
default_generators: tuple[Any, ...] = ()


class AcceleratorError(RuntimeError):
    """Raised when a device reports an error."""


class OutOfMemoryError(RuntimeError):
    """Raised when a device runs out of memory."""


def _unavailable() -> NoReturn:
    raise AssertionError("Torch not compiled with CUDA enabled: this build of retrograd computes on the CPU")


# -- what there is --------------------------------------------------------------


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


def is_tf32_supported() -> bool:
    """Whether the current device computes in tf32."""
    return False


def get_arch_list() -> list[str]:
    """The architectures the library was built for."""
    return []


def get_gencode_flags() -> str:
    """The compiler flags it was built with."""
    return ""


# -- devices --------------------------------------------------------------------


def init() -> None:
    """Starts CUDA."""
    _unavailable()


def current_device() -> int:
    """The index of the current device."""
    _unavailable()


def synchronize(device: Any = None) -> None:
    """Waits for a device."""
    _unavailable()


def get_device_name(device: Any = None) -> str:
    """The name of a device."""
    _unavailable()


def get_device_properties(device: Any = None) -> Any:
    """What a device can do."""
    _unavailable()


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Its compute capability."""
    _unavailable()


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Whether one device reads the memory of another."""
    _unavailable()


def ipc_collect() -> None:
    """Frees memory shared with other processes."""
    _unavailable()


def _index(device: Any) -> int:
    """The number of a CUDA device given as a number, a string or a device; -1 means none."""
    if isinstance(device, int):
        return device
    device = retrograd.device(device)
    if device.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {device}")
    return 0 if device.index is None else device.index


def set_device(device: Any) -> None:
    """Chooses the current device; a negative number changes nothing."""
    if _index(device) >= 0:
        _unavailable()


class device:
    """Chooses a device for a block; a negative number chooses none."""

    def __init__(self, device: Any) -> None:
        self.idx = _index(device)

    def __enter__(self) -> None:
        if self.idx >= 0:
            raise RuntimeError("PyTorch was compiled without CUDA support: this build of retrograd computes on the CPU")

    def __exit__(self, *exception: Any) -> None:
        pass


class device_of(device):
    """Chooses the device of a tensor for a block; tensors on the CPU choose none."""

    def __init__(self, obj: Tensor) -> None:
        super().__init__(obj.get_device() if obj.device.type == "cuda" else -1)


# -- streams --------------------------------------------------------------------


class Stream:
    """A queue of work on a device."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError("torch.cuda.Stream requires CUDA support")


class Event:
    """A point in a stream."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError("torch.cuda.Event requires CUDA support")


class stream:
    """Chooses a stream for a block; without CUDA there is only None, which chooses nothing."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is not None:
            _unavailable()

    def __exit__(self, *exception: Any) -> None:
        pass


def current_stream(device: Any = None) -> Stream:
    """The stream work goes to."""
    _unavailable()


def default_stream(device: Any = None) -> Stream:
    """The stream work goes to unless told otherwise."""
    _unavailable()


# -- random numbers: seeds wait for CUDA to start, which never happens ------------


def manual_seed(seed: int) -> None:
    """Seeds the current device."""


def manual_seed_all(seed: int) -> None:
    """Seeds all devices."""


def seed() -> None:
    """Seeds the current device from the system's entropy."""


def seed_all() -> None:
    """Seeds all devices from the system's entropy."""


def initial_seed() -> int:
    """The seed of the current device."""
    _unavailable()


def get_rng_state(device: Any = "cuda") -> Tensor:
    """The state of a device's generator."""
    _unavailable()


def get_rng_state_all() -> list[Tensor]:
    """The states of the generators of all devices."""
    return []


# -- memory: none is held; that of the CPU is counted by retrograd.memory_stats() ---


def empty_cache() -> None:
    """Gives unused device memory back."""


def memory_stats(device: Any = None) -> OrderedDict[str, Any]:
    """Counters of the device allocator."""
    return OrderedDict()


def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
    """The same, nested."""
    return {}


def host_memory_stats() -> OrderedDict[str, Any]:
    """Counters of the allocator of pinned memory."""
    return OrderedDict()


def memory_allocated(device: Any = None) -> int:
    """Bytes in use on a device."""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes in use on a device."""
    return 0


def memory_reserved(device: Any = None) -> int:
    """Bytes taken from a device."""
    return 0


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes taken from a device."""
    return 0


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """A table of a device's memory."""
    _unavailable()


def memory_snapshot(*args: Any, **kwargs: Any) -> Any:
    """All blocks of the device allocator."""
    _unavailable()


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """(free, total) bytes of a device."""
    _unavailable()


def reset_peak_memory_stats(device: Any = None) -> None:
    """Starts the peaks again."""
    _unavailable()


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """Starts the counters again."""
    _unavailable()


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Limits the memory of a device."""
    _unavailable()


def memory_cached(device: Any = None) -> int:
    """The old name of memory_reserved()."""
    return memory_reserved(device)


def max_memory_cached(device: Any = None) -> int:
    """The old name of max_memory_reserved()."""
    return max_memory_reserved(device)


def host_memory_stats_as_nested_dict() -> dict[str, Any]:
    """Counters of the allocator of pinned memory, nested."""
    return {}


# -- the rest ---------------------------------------------------------------------


def set_rng_state(new_state: Tensor, device: Any = "cuda") -> None:
    """Sets the state of a device's generator when CUDA starts, which never happens."""


def set_rng_state_all(new_states: Any) -> None:
    """Sets the states of all generators, of which there are none."""


def set_stream(stream: Any) -> None:
    """Chooses a stream; without CUDA there is only None, which chooses nothing."""
    if stream is not None:
        _unavailable()


def is_current_stream_capturing() -> bool:
    """Whether work is being captured: without a device none is."""
    return False


def list_gpu_processes(device: Any = None) -> str:
    """The processes on a device, as text."""
    return "no processes are running: this build of retrograd computes on the CPU"


def _is_compiled() -> bool:
    return False


def _lazy_init() -> None:
    _unavailable()


def _is_in_bad_fork() -> bool:
    return False


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    if device is None and optional:
        return -1
    if allow_cpu and not isinstance(device, int) and retrograd.device(device).type == "cpu":
        return -1
    return _index(device)


class StreamContext(stream):
    """The class behind stream()."""


class CudaError(RuntimeError):
    """An error of the CUDA runtime."""


class DeferredCudaCallError(Exception):
    """An error of a call that waited for CUDA to start."""


class cudaStatus:
    """Numbers that the CUDA runtime returns."""

    SUCCESS = 0
    ERROR_NOT_READY = 34


class _TensorTypeMeta(_types._TensorTypeMeta):
    """The type of tensors of one dtype on a CUDA device: no tensor is one, and none can be made."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return False

    def __call__(cls, *args: Any, **kwargs: Any) -> Tensor:
        raise TypeError(f"type torch.cuda.{cls.__name__} not available. Torch not compiled with CUDA enabled.")


def _type_of(name: str) -> Any:
    facts = {
        "dtype": getattr(_types, name).dtype,
        "__module__": "torch.cuda",
        "__doc__": "Tensors of one dtype on a CUDA device, of which there are none.",
    }
    return _TensorTypeMeta(name, (), facts)


_TENSORS = ["BFloat16", "Bool", "Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short"]
globals().update({f"{kind}Tensor": _type_of(f"{kind}Tensor") for kind in _TENSORS})
_REFUSED = """
    CUDAGraph CUDAPluggableAllocator ExternalStream GreenContext MemPool caching_allocator_alloc caching_allocator_delete caching_allocator_enable
    change_current_allocator check_error clock_rate cudart current_blas_handle current_solver_handle device_memory_used get_allocator_backend
    get_per_process_memory_fraction get_stream_from_external get_sync_debug_mode graph graph_pool_handle make_graphed_callables memory_usage power_draw
    reset_accumulated_host_memory_stats reset_max_memory_allocated reset_max_memory_cached reset_peak_host_memory_stats set_sync_debug_mode temperature
    use_mem_pool utilization
"""
_WHY = "Torch not compiled with CUDA enabled: {name} needs a device, and this build of retrograd computes on the CPU"
globals().update(refused(__name__, _REFUSED, AssertionError, _WHY))
globals().update(
    refused(__name__, " ".join(f"{kind}Storage" for kind in (*_TENSORS, "ComplexFloat", "ComplexDouble")), AssertionError, _WHY)
)


def __getattr__(name: str) -> Any:
    if name in ("graphs", "memory", "nccl", "nvtx", "random", "streams"):
        return importlib.import_module(f"{__name__}.{name}")
    from retrograd._missing import missing

    raise missing(__name__, name)
