"""autocast: a block, or a function, in which ops choose the precision they compute in."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from retrograd import _C, Tensor
from retrograd.amp import _state

__all__ = ["autocast", "autocast_decorator", "custom_bwd", "custom_fwd", "is_autocast_available"]

_LOWER = (_C.bfloat16, _C.float16)


def is_autocast_available(device_type: str) -> bool:
    """Whether there is autocast for a kind of device."""
    if isinstance(device_type, str) and device_type in _state._OTHERS:
        return False
    _state.row(device_type, "_is_autocast_available", "")
    return True


def autocast_decorator(autocast_instance: autocast, func: Callable[..., Any]) -> Callable[..., Any]:
    """The function, run under autocast."""

    @functools.wraps(func)
    def decorate_autocast(*args: Any, **kwargs: Any) -> Any:
        with autocast_instance:
            return func(*args, **kwargs)

    vars(decorate_autocast)["__script_unsupported"] = "@autocast() decorator is not supported in script mode"
    return decorate_autocast


class autocast:
    """Inside the block, or the decorated function, ops run in the precision that suits them: products and convolutions of float32 tensors in
    `dtype`, losses and decompositions in float32, others as their inputs come.

    Parameters stay as they are. Each op casts what it needs; the casts of leaves that require grad are kept until the outermost block is left, and
    made anew when such a leaf has been written meanwhile. Backward belongs outside the block: its ops run in the dtypes of the forward.

    Args:
        device_type: "cpu", or the kind of another device. Where there is no CUDA, "cuda" warns and does nothing.
        dtype: bfloat16 or float16; by default the device's, bfloat16 on the CPU.
        enabled: False makes a block without autocast inside one with it.
        cache_enabled: whether casts of weights are kept.

    Example:
        >>> with torch.autocast("cpu"):
        ...     (torch.ones(2, 2) @ torch.ones(2, 2)).dtype
        torch.bfloat16
    """

    def __init__(self, device_type: str, dtype: _C.dtype | None = None, enabled: bool = True, cache_enabled: bool | None = None) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if dtype is None:
            dtype = _state.get_autocast_dtype(device_type)
        self.fast_dtype = dtype
        self.device = device_type
        self.custom_backend_name = "privateuseone"
        if device_type == self.custom_backend_name:
            raise AssertionError(
                f"Tried to use AMP with the `{device_type}` backend, but the backend has not registered a module: "
                "there are no backends of that kind here."
            )
        self._row = _state.row(device_type, "autocast", "User specified an unsupported autocast device_type")
        if enabled and device_type == "cuda":
            warnings.warn("CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=2)
            enabled = False
        elif enabled and dtype not in _LOWER:
            kind = device_type.partition(":")[0].upper()
            warnings.warn(
                f"In {kind} autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"{kind} Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.",
                stacklevel=2,
            )
            enabled = False
        self._enabled = enabled
        self._cache_enabled = _C.is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        self._found: list[tuple[bool, _C.dtype, bool]] = []  # what was there, for each time that it was entered

    def __enter__(self) -> autocast:
        row = self._row
        self._found.append((_C._is_autocast_enabled(row), _C._get_autocast_dtype(row), _C.is_autocast_cache_enabled()))
        _C._set_autocast_enabled(row, self._enabled)
        if self._enabled:  # otherwise it may be no dtype at all
            _C._set_autocast_dtype(row, self.fast_dtype)
        _C.autocast_increment_nesting()
        _C._set_autocast_cache_enabled(self._cache_enabled)
        return self

    def __exit__(self, *error: Any) -> Literal[False]:
        if _C.autocast_decrement_nesting() == 0:
            _C.clear_autocast_cache()
        enabled, dtype, cache_enabled = self._found.pop()
        _C._set_autocast_enabled(self._row, enabled)
        _C._set_autocast_dtype(self._row, dtype)
        _C._set_autocast_cache_enabled(cache_enabled)
        return False

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        return autocast_decorator(self, func)


def _enter_autocast(*vals: Any) -> autocast:
    """Enters autocast outside of a with statement; `_exit_autocast` leaves it."""
    mode = autocast(*vals)
    mode.__enter__()
    return mode


def _exit_autocast(mode: autocast) -> None:
    mode.__exit__(None, None, None)


# ---- custom functions ----


def _cast(value: Any, device_type: str, dtype: _C.dtype) -> Any:
    """The floating tensors of a kind of device among arguments, in a dtype."""
    if isinstance(value, Tensor):
        eligible = value.is_floating_point() and value.device.type == device_type and value.dtype is not _C.float64
        return value.to(dtype) if eligible else value
    if isinstance(value, (str, bytes)) or type(value).__module__ == "numpy":
        return value
    if isinstance(value, Mapping):
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, Iterable):
        each = (_cast(v, device_type, dtype) for v in value)
        return type(value)(each) if isinstance(value, (list, tuple)) else each
    return value


def _check_device_type(device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def custom_fwd(fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: _C.dtype | None = None) -> Any:
    """Decorates the `forward` of a `Function`, whose backward, decorated with `custom_bwd`, then runs under the autocast that it ran under.

    Args:
        device_type: the kind of device that autocast is for.
        cast_inputs: where autocast is on, floating tensors are cast to this dtype, and the function runs without autocast.
    """
    _check_device_type(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)
    function = fwd

    @functools.wraps(function)
    def decorate_fwd(*args: Any, **kwargs: Any) -> Any:
        ctx, on = args[0], _state.is_autocast_enabled(device_type)
        ctx._dtype = _state.get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = on and cast_inputs is None
        if cast_inputs is None or not on:
            return function(*args, **kwargs)
        with autocast(device_type, enabled=False):
            return function(*_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))

    return decorate_fwd


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """Decorates the `backward` of a `Function` whose forward is decorated with `custom_fwd`."""
    _check_device_type(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)
    function = bwd

    @functools.wraps(function)
    def decorate_bwd(*args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return function(*args, **kwargs)

    return decorate_bwd
