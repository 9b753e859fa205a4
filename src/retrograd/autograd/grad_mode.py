"""Modes that say whether operations record their history.

Each is a context manager and a decorator, and holds for the current thread:

* `no_grad`, `enable_grad`, `set_grad_enabled`: whether results require grad;
* `inference_mode`: no history at all, not even version counters;
* `set_multithreading_enabled`, `enforce_grad_layout_policy`: how backward runs.

The first four are native, `csrc/python/modes.cpp`: entering one costs about as much as a small op. As decorators all are
`utils/_contextlib.py`.
"""

from __future__ import annotations

import threading
from typing import Any

from retrograd import _C
from retrograd._C import _DecoratorContextManager, enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = [
    "enable_grad",
    "enforce_grad_layout_policy",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

# -- how backward runs --------------------------------------------------------


class _Flags(threading.local):
    multithreading = True


_flags = _Flags()


def is_multithreading_enabled() -> bool:
    """What `set_multithreading_enabled` was last given in this thread; True at first."""
    return _flags.multithreading


class set_multithreading_enabled(_DecoratorContextManager):
    """Accepted and remembered, without effect: backward always runs on the thread that called it."""

    __slots__ = ("mode", "prev")

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(f"set_multithreading_enabled(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}")
        self.prev = _flags.multithreading
        self.mode = mode
        _flags.multithreading = mode

    def __call__(self, orig_func: Any) -> Any:
        _flags.multithreading = self.prev
        return super().__call__(orig_func)

    def __enter__(self) -> None:
        _flags.multithreading = self.mode

    def __exit__(self, *exc_info: object) -> None:
        _flags.multithreading = self.prev

    def clone(self) -> set_multithreading_enabled:
        return type(self)(self.mode)


class enforce_grad_layout_policy(_DecoratorContextManager):
    """Whether a gradient kept in ``.grad`` must have the strides of its tensor (the default).

    Relaxed, backward keeps a gradient that nobody else holds as it comes, saving a copy. Takes effect
    at once when called, until the end of the block in a ``with`` statement.
    """

    __slots__ = ("enable", "prev")

    def __init__(self, enable: bool = True) -> None:
        self.prev = _C._is_grad_layout_enforced()
        self.enable = enable
        _C._set_grad_layout_enforced(enable)

    def __call__(self, orig_func: Any) -> Any:
        _C._set_grad_layout_enforced(self.prev)
        return super().__call__(orig_func)

    def __enter__(self) -> None:
        _C._set_grad_layout_enforced(self.enable)

    def __exit__(self, *exc_info: object) -> None:
        _C._set_grad_layout_enforced(self.prev)

    def clone(self) -> enforce_grad_layout_policy:
        return type(self)(self.enable)


class _unsafe_preserve_version_counter(_DecoratorContextManager):
    """Hide the in-place changes made in the block from the check that saved tensors are unchanged.

    Wrong gradients follow if a hidden change touched what backward needs: for those who know better.
    """

    __slots__ = ("tensors", "versions")

    def __init__(self, tensors: Any) -> None:
        self.tensors = tensors if isinstance(tensors, tuple) else (tensors,)
        self.versions = tuple(t._version for t in self.tensors)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc_info: object) -> None:
        _C._unsafe_set_version_counter(self.tensors, self.versions)

    def clone(self) -> _unsafe_preserve_version_counter:
        return type(self)(self.tensors)
