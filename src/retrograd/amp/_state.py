"""The thread's autocast by PyTorch's functions: what is on, for which kind of device, in which dtype."""

from __future__ import annotations

import warnings
from typing import Any

from retrograd import _C
from retrograd._C import (
    autocast_decrement_nesting as autocast_decrement_nesting,
    autocast_increment_nesting as autocast_increment_nesting,
    clear_autocast_cache as clear_autocast_cache,
    is_autocast_cache_enabled as is_autocast_cache_enabled,
)

DEVICES: dict[str, int] = {name: i for i, name in enumerate(_C._autocast_devices())}
_OTHERS = ("mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "lazy", "vulkan", "meta")
_KNOWN = "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, hpu, mtia, privateuseone"


def row(device_type: Any, function: str, words: str) -> int:
    """The number of a kind of device; `words` say that it has no autocast."""
    if not isinstance(device_type, str):
        raise TypeError(f"{function}(): argument 'device_type' (position 1) must be str, not {type(device_type).__name__}")
    name = device_type.partition(":")[0]
    found = DEVICES.get(name)
    if found is not None:
        return found
    if name in _OTHERS:
        raise RuntimeError(f"{words}: there is no autocast for the device type {name!r}")
    raise RuntimeError(f"Expected one of {_KNOWN} device type at start of device string: {device_type}")


_NO_KEY = "unknown device type for autocast in get_autocast_dispatch_key_from_device_type"
_NO_DTYPE = "unsupported scalarType"


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether autocast is on for a kind of device, in this thread."""
    return _C._is_autocast_enabled(row(device_type, "is_autocast_enabled", _NO_KEY))


def set_autocast_enabled(*args: Any, **kwargs: Any) -> None:
    """(device_type, enabled), or (enabled) for CUDA: switches autocast on or off for a kind of device, in this thread."""
    given = dict(zip(("device_type", "enabled") if len(args) > 1 else ("enabled",), args, strict=False)) | kwargs
    if "enabled" not in given or set(given) - {"device_type", "enabled"} or len(args) > 2:
        raise TypeError("set_autocast_enabled() expects (device_type, enabled), or (enabled) for CUDA")
    if not isinstance(given["enabled"], bool):
        kind = type(given["enabled"]).__name__
        raise TypeError(f"set_autocast_enabled(): argument 'enabled' (position {max(len(args), 1)}) must be bool, not {kind}")
    _C._set_autocast_enabled(row(given.get("device_type", "cuda"), "set_autocast_enabled", _NO_KEY), given["enabled"])


def get_autocast_dtype(device_type: str) -> _C.dtype:
    """The dtype of lower precision that autocast uses on a kind of device."""
    return _C._get_autocast_dtype(row(device_type, "get_autocast_dtype", _NO_DTYPE))


def set_autocast_dtype(device_type: str, dtype: _C.dtype) -> None:
    """Sets the dtype of lower precision that autocast uses on a kind of device, in this thread."""
    _C._set_autocast_dtype(row(device_type, "set_autocast_dtype", _NO_DTYPE), dtype)


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Whether casts of weights are kept until autocast is left."""
    if not isinstance(enabled, bool):
        raise TypeError(f"enabled must be a bool (got {type(enabled).__name__})")
    _C._set_autocast_cache_enabled(enabled)


# ---- the names that were there for some kinds of devices; from Python 3.13 on `warnings.deprecated` could say it ----


def _deprecated(old: str, new: str) -> None:
    warnings.warn(f"torch.{old} is deprecated. Please use torch.{new} instead.", DeprecationWarning, stacklevel=3)


def is_autocast_cpu_enabled() -> bool:
    """An older form of `is_autocast_enabled("cpu")`."""
    _deprecated("is_autocast_cpu_enabled()", "is_autocast_enabled('cpu')")
    return is_autocast_enabled("cpu")


def is_autocast_ipu_enabled() -> bool:
    """An older form of `is_autocast_enabled("ipu")`."""
    _deprecated("is_autocast_ipu_enabled()", "is_autocast_enabled('ipu')")
    return is_autocast_enabled("ipu")


def is_autocast_xla_enabled() -> bool:
    """An older form of `is_autocast_enabled("xla")`."""
    _deprecated("is_autocast_xla_enabled()", "is_autocast_enabled('xla')")
    return is_autocast_enabled("xla")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """An older form of `set_autocast_enabled("cpu", enabled)`."""
    _deprecated("set_autocast_cpu_enabled(enabled)", "set_autocast_enabled('cpu', enabled)")
    set_autocast_enabled("cpu", enabled)


def set_autocast_ipu_enabled(enabled: bool) -> None:
    """An older form of `set_autocast_enabled("ipu", enabled)`."""
    _deprecated("set_autocast_ipu_enabled(enabled)", "set_autocast_enabled('ipu', enabled)")
    set_autocast_enabled("ipu", enabled)


def set_autocast_xla_enabled(enabled: bool) -> None:
    """An older form of `set_autocast_enabled("xla", enabled)`."""
    _deprecated("set_autocast_xla_enabled(enabled)", "set_autocast_enabled('xla', enabled)")
    set_autocast_enabled("xla", enabled)


def get_autocast_cpu_dtype() -> _C.dtype:
    """An older form of `get_autocast_dtype("cpu")`."""
    _deprecated("get_autocast_cpu_dtype()", "get_autocast_dtype('cpu')")
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> _C.dtype:
    """An older form of `get_autocast_dtype("cuda")`."""
    _deprecated("get_autocast_gpu_dtype()", "get_autocast_dtype('cuda')")
    return get_autocast_dtype("cuda")


def get_autocast_ipu_dtype() -> _C.dtype:
    """An older form of `get_autocast_dtype("ipu")`."""
    _deprecated("get_autocast_ipu_dtype()", "get_autocast_dtype('ipu')")
    return get_autocast_dtype("ipu")


def get_autocast_xla_dtype() -> _C.dtype:
    """An older form of `get_autocast_dtype("xla")`."""
    _deprecated("get_autocast_xla_dtype()", "get_autocast_dtype('xla')")
    return get_autocast_dtype("xla")


def set_autocast_cpu_dtype(dtype: _C.dtype) -> None:
    """An older form of `set_autocast_dtype("cpu", dtype)`."""
    _deprecated("set_autocast_cpu_dtype(dtype)", "set_autocast_dtype('cpu', dtype)")
    set_autocast_dtype("cpu", dtype)


def set_autocast_gpu_dtype(dtype: _C.dtype) -> None:
    """An older form of `set_autocast_dtype("cuda", dtype)`."""
    _deprecated("set_autocast_gpu_dtype(dtype)", "set_autocast_dtype('cuda', dtype)")
    set_autocast_dtype("cuda", dtype)


def set_autocast_ipu_dtype(dtype: _C.dtype) -> None:
    """An older form of `set_autocast_dtype("ipu", dtype)`."""
    _deprecated("set_autocast_ipu_dtype(dtype)", "set_autocast_dtype('ipu', dtype)")
    set_autocast_dtype("ipu", dtype)


def set_autocast_xla_dtype(dtype: _C.dtype) -> None:
    """An older form of `set_autocast_dtype("xla", dtype)`."""
    _deprecated("set_autocast_xla_dtype(dtype)", "set_autocast_dtype('xla', dtype)")
    set_autocast_dtype("xla", dtype)
