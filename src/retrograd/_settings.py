"""Settings of the whole program: the default device, and what PyTorch lets one choose where there is nothing to choose here."""

from __future__ import annotations

from typing import Any

from retrograd import _C

__all__ = [
    "are_deterministic_algorithms_enabled",
    "get_default_device",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "set_default_device",
    "set_float32_matmul_precision",
    "set_flush_denormal",
    "set_num_interop_threads",
    "use_deterministic_algorithms",
]  # fmt: skip


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
