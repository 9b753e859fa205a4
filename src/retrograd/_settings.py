"""Settings of the whole program: the default device, and what PyTorch lets one choose where there is nothing to choose here."""

from __future__ import annotations

from typing import Any

from retrograd import _C

__all__ = [
    "are_deterministic_algorithms_enabled",
    "get_default_device",
    "get_deterministic_debug_mode",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "init_num_threads",
    "is_deterministic_algorithms_warn_only_enabled",
    "is_warn_always_enabled",
    "set_default_device",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_flush_denormal",
    "set_num_interop_threads",
    "set_warn_always",
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


def init_num_threads() -> None:
    """Accepted for PyTorch's sake: threads are there when they are needed."""


_deterministic = _warn_only = False
_MODES = ("default", "warn", "error")


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Accepted for PyTorch's sake: every op gives the same bits from run to run already."""
    global _deterministic, _warn_only
    _deterministic, _warn_only = mode, warn_only


def are_deterministic_algorithms_enabled() -> bool:
    """What use_deterministic_algorithms() was given."""
    return _deterministic


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether use_deterministic_algorithms() was told to warn only."""
    return _warn_only


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """use_deterministic_algorithms() by number or name: 0 or "default", 1 or "warn", 2 or "error"."""
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if isinstance(debug_mode, str):
        if debug_mode not in _MODES:
            raise RuntimeError(f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got {debug_mode}")
        debug_mode = _MODES.index(debug_mode)
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    use_deterministic_algorithms(debug_mode > 0, warn_only=debug_mode == 1)


def get_deterministic_debug_mode() -> int:
    """What set_deterministic_debug_mode() was given, as a number."""
    return (1 if _warn_only else 2) if _deterministic else 0


_warn_always = False


def set_warn_always(mode: bool) -> None:
    """Accepted for PyTorch's sake: warnings are Python's, and its filters say how often they are shown."""
    global _warn_always
    if not isinstance(mode, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type(mode).__name__}")
    _warn_always = mode


def is_warn_always_enabled() -> bool:
    """What set_warn_always() was given."""
    return _warn_always


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
