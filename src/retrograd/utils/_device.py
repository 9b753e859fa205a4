"""`with device(...):` and `set_default_device()`: where functions that make tensors make them when they are not told.

A context is a mode that sees calls from Python (`overrides.TorchFunctionMode`): outside of any, factories pay nothing for it.
Contexts belong to the thread that entered them.
"""

from __future__ import annotations

import threading
from typing import Any

import retrograd
from retrograd import _C
from retrograd.overrides import TorchFunctionMode, _get_current_function_mode_stack

_FACTORIES = """
    arange as_tensor asarray bartlett_window blackman_window empty empty_permuted empty_strided eye full hamming_window hann_window kaiser_window
    linspace logspace ones rand randint randn randperm scalar_tensor tensor tril_indices triu_indices zeros
"""
_makes_tensors = {getattr(retrograd, name) for name in _FACTORIES.split() if hasattr(retrograd, name)}


class DeviceContext(TorchFunctionMode):
    """Tells factories the device, unless the call names one."""

    def __init__(self, device: Any) -> None:
        self.device = _C.device(device)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in _makes_tensors and kwargs.get("device") is None:
            kwargs = {**kwargs, "device": self.device}
        return func(*args, **kwargs)


class _Contexts(threading.local):
    def __init__(self) -> None:
        self.entered: list[DeviceContext] = []
        self.default: DeviceContext | None = None


_contexts = _Contexts()


def _check(device: Any) -> None:
    if device.type == "cuda":
        raise AssertionError(f"Torch not compiled with CUDA enabled: tensors cannot be made on {device} in a build that has only the CPU")


def enter(device: Any) -> Any:
    """`device.__enter__`."""
    _check(device)
    context = DeviceContext(device)
    context.__enter__()
    _contexts.entered.append(context)
    return device


def leave(device: Any) -> None:
    """`device.__exit__`."""
    entered = _contexts.entered
    modes = _get_current_function_mode_stack()
    if not entered or entered[-1].device != device or not modes or modes[-1] is not entered[-1]:
        raise RuntimeError(f"{device!r}.__exit__() was called, but that device is not the innermost that was entered")
    entered.pop().__exit__(None, None, None)


def set_default(device: Any) -> None:
    """What holds outside of all contexts: below them on the stack of modes. The CPU needs no mode."""
    wanted = None if device is None else _C.device(device)
    if wanted is not None:
        _check(wanted)
    modes = _get_current_function_mode_stack()
    for _ in modes:
        _C._pop_function_mode()
    modes = [mode for mode in modes if mode is not _contexts.default]
    _contexts.default = None if wanted is None or wanted == _C.device("cpu") else DeviceContext(wanted)
    for mode in ([] if _contexts.default is None else [_contexts.default]) + modes:
        _C._push_function_mode(mode)


def default() -> Any:
    """The device of the innermost context, or the default, or the CPU."""
    for mode in reversed(_get_current_function_mode_stack()):
        if isinstance(mode, DeviceContext):
            return mode.device
    return _C.device("cpu")
