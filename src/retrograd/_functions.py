"""Functions of the top-level namespace that are neither ops nor constructors."""

from __future__ import annotations

from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd._overridable import overridable

__all__ = [
    "are_deterministic_algorithms_enabled",
    "cache_limit",
    "empty_cache",
    "get_default_device",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "is_complex",
    "is_conj",
    "is_floating_point",
    "is_inference",
    "is_neg",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "numel",
    "reset_peak_memory_stats",
    "set_cache_limit",
    "set_default_device",
    "set_float32_matmul_precision",
    "set_flush_denormal",
    "set_num_interop_threads",
    "use_deterministic_algorithms",
]  # fmt: skip


@overridable
def numel(input: Tensor) -> int:
    """The number of elements."""
    return input.numel()


@overridable
def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is a floating point one."""
    return input.is_floating_point()


@overridable
def is_complex(input: Tensor) -> bool:
    """Whether the dtype is complex."""
    return input.is_complex()


@overridable
def is_signed(input: Tensor) -> bool:
    """Whether the dtype is signed."""
    return input.is_signed()


@overridable
def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made in inference mode."""
    return input.is_inference()


@overridable
def is_conj(input: Tensor) -> bool:
    """Whether the elements are the conjugates of what is in memory: `conj()` is lazy."""
    return input.is_conj()


@overridable
def is_neg(input: Tensor) -> bool:
    """Whether the elements are the negatives of what is in memory, as those of `x.conj().imag`."""
    return input.is_neg()


@overridable
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same sizes."""
    return input.shape == other.shape


@overridable
def is_nonzero(input: Tensor) -> bool:
    """Whether a tensor of one element is not zero."""
    if input.numel() != 1:
        raise RuntimeError(f"Boolean value of Tensor with {'no values' if input.numel() == 0 else 'more than one value'} is ambiguous")
    return bool(input)


def set_flush_denormal(mode: bool) -> bool:
    """Not supported: denormal numbers are always kept. Returns False, as PyTorch does where it cannot."""
    return False


def get_num_interop_threads() -> int:
    """Ops run one after the other: always 1."""
    return 1


def set_num_interop_threads(n: int) -> None:
    """Accepted for PyTorch's sake; ops run one after the other."""
    if n <= 0:
        raise RuntimeError("set_num_interop_threads expects a positive integer")


def memory_stats(device: Any = None) -> dict[str, int]:
    """Counters of the CPU allocator, in bytes and blocks; exact for the memory of tensors."""
    return _C._memory_stats()


def memory_allocated(device: Any = None) -> int:
    """Bytes held by live tensors."""
    return _C._memory_stats()["allocated"]


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes live tensors held since the start or the last reset_peak_memory_stats()."""
    return _C._memory_stats()["peak_allocated"]


def memory_reserved(device: Any = None) -> int:
    """Bytes the allocator has taken from the system: what tensors hold, and what it keeps for later."""
    return _C._memory_stats()["reserved"]


def max_memory_reserved(device: Any = None) -> int:
    """The most bytes the allocator had taken since the start or the last reset_peak_memory_stats()."""
    return _C._memory_stats()["peak_reserved"]


def reset_peak_memory_stats(device: Any = None) -> None:
    """Starts max_memory_allocated() and max_memory_reserved() again from what there is now."""
    _C._reset_peak_memory_stats()


def empty_cache() -> None:
    """Gives all memory that no tensor uses back to the system, at once. What is not used for some seconds goes back by itself."""
    _C._empty_cache()


def set_cache_limit(bytes: int | None) -> None:
    """How many bytes of freed memory the allocator keeps for later at most: 0 for none, None for the default.

    The default is half of what the process may use; the environment variable RETROGRAD_CACHE_LIMIT sets another.
    """
    _C._set_cache_limit(bytes)


def cache_limit() -> int:
    """How many bytes of freed memory the allocator keeps for later at most."""
    return _C._cache_limit()


_precision = "highest"


def set_float32_matmul_precision(precision: str) -> None:
    """Accepted for PyTorch's sake: float32 products are always computed in float32."""
    global _precision
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(f"{precision!r} is not one of 'highest', 'high' or 'medium'")
    _precision = precision


def get_float32_matmul_precision() -> str:
    """What set_float32_matmul_precision() was given."""
    return _precision


_deterministic = False


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Accepted for PyTorch's sake: every op gives the same bits from run to run already."""
    global _deterministic
    _deterministic = mode


def are_deterministic_algorithms_enabled() -> bool:
    """What use_deterministic_algorithms() was given."""
    return _deterministic


def get_default_device() -> Any:
    """The device new tensors are made on: that of the innermost ``with device(...)``, or of set_default_device()."""
    if not _C._is_torch_function_mode_enabled():
        return _C.device("cpu")
    from retrograd.utils import _device

    return _device.default()


def set_default_device(device: Any) -> None:
    """Where functions that make tensors make them in this thread, when they are not told: "cpu" or "meta"; None for the CPU.

    Inside ``with device(...)`` the device of the block holds.
    """
    from retrograd.utils import _device

    _device.set_default(device)


def _enter_device(self: Any) -> Any:
    from retrograd.utils import _device

    return _device.enter(self)


def _leave_device(self: Any, *exc_info: object) -> None:
    from retrograd.utils import _device

    _device.leave(self)


_C.device.__enter__ = _enter_device  # type: ignore[method-assign]
_C.device.__exit__ = _leave_device  # type: ignore[method-assign]
