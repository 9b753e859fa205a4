"""Modes that say whether operations record their history.

Each is a context manager and a decorator, and holds for the current thread:

* `no_grad`, `enable_grad`, `set_grad_enabled`: whether results require grad;
* `inference_mode`: no history at all, not even version counters;
* `set_multithreading_enabled`, `enforce_grad_layout_policy`: how backward runs.

As a decorator a mode holds while the body of the function runs: for a generator, coroutine or
asynchronous generator that is each step of it, never the caller's code between two steps.
"""

from __future__ import annotations

import functools
import threading
import types
import warnings
from collections.abc import Callable
from typing import Any

from retrograd import _C
from retrograd._C import _set_grad_enabled, is_grad_enabled

__all__ = [
    "enable_grad",
    "enforce_grad_layout_policy",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

# -- decorators ---------------------------------------------------------------


def _drive(steps: Any, context: Callable[[], Any]) -> Any:
    """Run `steps` (anything with send, throw and close) with each step inside a fresh `context()`."""
    resume, value = steps.send, None
    while True:
        try:
            with context():
                item = resume(value)
        except StopIteration as stop:
            return stop.value
        try:
            resume, value = steps.send, (yield item)
        except GeneratorExit:
            with context():
                steps.close()
            raise
        except BaseException as error:
            resume, value = steps.throw, error


@types.coroutine
def _drive_awaitable(steps: Any, context: Callable[[], Any]) -> Any:
    return (yield from _drive(steps, context))


async def _drive_async(steps: Any, context: Callable[[], Any]) -> Any:
    resume, value = steps.asend, None
    while True:
        try:
            item = await _drive_awaitable(resume(value), context)
        except StopAsyncIteration:
            return
        try:
            resume, value = steps.asend, (yield item)
        except GeneratorExit:
            await _drive_awaitable(steps.aclose(), context)
            raise
        except BaseException as error:
            resume, value = steps.athrow, error


def _around_function(func: Any, context: Callable[[], Any]) -> Any:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with context():
            return func(*args, **kwargs)

    return wrapper


def _around_generator(func: Any, context: Callable[[], Any]) -> Any:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return (yield from _drive(func(*args, **kwargs), context))

    return wrapper


def _around_coroutine(func: Any, context: Callable[[], Any]) -> Any:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        return await _drive_awaitable(func(*args, **kwargs), context)

    return wrapper


def _around_async_generator(func: Any, context: Callable[[], Any]) -> Any:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return _drive_async(func(*args, **kwargs), context)

    return wrapper


def _wrap(func: Any, context: Callable[[], Any]) -> Any:
    """`func` with its body inside `context()`, and still of the same kind of function."""
    import inspect  # here: it takes longer to import than all of this package

    if inspect.isgeneratorfunction(func):
        around = _around_generator
    elif inspect.iscoroutinefunction(func):
        around = _around_coroutine
    elif inspect.isasyncgenfunction(func):
        around = _around_async_generator
    else:
        around = _around_function
    return functools.update_wrapper(around(func, context), func)


def _wrap_class(cls: type, context: Callable[[], Any]) -> type:
    warnings.warn(
        "Decorating classes is deprecated and will be disabled in future versions. "
        "Only `__init__` runs in the mode: decorate it, or the methods that need the mode, instead.",
        FutureWarning,
        stacklevel=3,
    )
    cls.__init__ = _wrap(cls.__init__, context)  # type: ignore[misc]
    return cls


class _Mode:
    """Base of the modes below: makes a context manager usable as a decorator."""

    __slots__ = ()

    def __call__(self, func: Any) -> Any:
        return _wrap_class(func, self.clone) if isinstance(func, type) else _wrap(func, self.clone)

    def clone(self) -> Any:
        """A new context manager of the same mode, for one call of a decorated function."""
        return type(self)()


# -- grad mode ----------------------------------------------------------------


class _GradSwitch(_Mode):
    """`no_grad` and `enable_grad`, which work with brackets and, as decorators, without."""

    # What grad mode was when this object was entered, one bit for each time, newest lowest: an object
    # that is entered again before it is left finds its way back.
    _before = 0

    def __new__(cls, orig_func: Any = None) -> Any:
        self = object.__new__(cls)
        return self if orig_func is None else self(orig_func)

    def __exit__(self, *exc_info: object) -> None:
        before = self._before
        _set_grad_enabled(before & 1 == 1)
        self._before = before >> 1


class no_grad(_GradSwitch):
    """Record no history: results do not require grad, whatever their inputs.

    Factory functions that take `requires_grad` still heed it.

    Example::

        >>> x = retrograd.ones(2, requires_grad=True)
        >>> with retrograd.no_grad():
        ...     y = x * 2
        >>> y.requires_grad
        False
    """

    def __enter__(self) -> None:
        self._before = self._before << 1 | is_grad_enabled()
        _set_grad_enabled(False)


class enable_grad(_GradSwitch):
    """Record history, also inside `no_grad`.

    Example::

        >>> with retrograd.no_grad():
        ...     with retrograd.enable_grad():
        ...         y = retrograd.ones(2, requires_grad=True) * 2
        >>> y.requires_grad
        True
    """

    def __enter__(self) -> None:
        self._before = self._before << 1 | is_grad_enabled()
        _set_grad_enabled(True)


class set_grad_enabled(_Mode):
    """Switch history on or off: at once when called, until the end of the block in a ``with`` statement.

    Example::

        >>> with retrograd.set_grad_enabled(False):
        ...     retrograd.is_grad_enabled()
        False
    """

    __slots__ = ("mode", "prev")

    def __init__(self, mode: bool) -> None:
        self.prev = is_grad_enabled()
        self.mode = mode
        _set_grad_enabled(mode)

    def __call__(self, func: Any) -> Any:
        _set_grad_enabled(self.prev)  # a decorator acts when the function is called, not where it stands
        return super().__call__(func)

    def __enter__(self) -> None:
        _set_grad_enabled(self.mode)

    def __exit__(self, *exc_info: object) -> None:
        _set_grad_enabled(self.prev)

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    def clone(self) -> set_grad_enabled:
        return type(self)(self.mode)


# -- inference mode -----------------------------------------------------------


class inference_mode(_Mode):
    """Like `no_grad`, and the tensors made inside can never enter a graph, which makes them cheaper.

    ``inference_mode(False)`` switches inference mode off, and history on, inside an outer block.

    Example::

        >>> with retrograd.inference_mode():
        ...     y = retrograd.ones(2) * 2
        >>> y.is_inference()
        True
    """

    __slots__ = ("_tokens", "mode")

    def __new__(cls, mode: Any = True) -> Any:
        if isinstance(mode, bool):
            return object.__new__(cls)
        return cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode
        self._tokens: list[Any] = []

    def __enter__(self) -> None:
        self._tokens.append(_C._enter_inference(self.mode))

    def __exit__(self, *exc_info: object) -> None:
        _C._exit_inference(self._tokens.pop())

    def clone(self) -> inference_mode:
        return type(self)(self.mode)


# -- how backward runs --------------------------------------------------------


class _Flags(threading.local):
    multithreading = True


_flags = _Flags()


def is_multithreading_enabled() -> bool:
    """What `set_multithreading_enabled` was last given in this thread; True at first."""
    return _flags.multithreading


class set_multithreading_enabled(_Mode):
    """Accepted and remembered, without effect: backward always runs on the thread that called it."""

    __slots__ = ("mode", "prev")

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(f"set_multithreading_enabled(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}")
        self.prev = _flags.multithreading
        self.mode = mode
        _flags.multithreading = mode

    def __call__(self, func: Any) -> Any:
        _flags.multithreading = self.prev
        return super().__call__(func)

    def __enter__(self) -> None:
        _flags.multithreading = self.mode

    def __exit__(self, *exc_info: object) -> None:
        _flags.multithreading = self.prev

    def clone(self) -> set_multithreading_enabled:
        return type(self)(self.mode)


class enforce_grad_layout_policy(_Mode):
    """Whether a gradient kept in ``.grad`` must have the strides of its tensor (the default).

    Relaxed, backward keeps a gradient that nobody else holds as it comes, saving a copy. Takes effect
    at once when called, until the end of the block in a ``with`` statement.
    """

    __slots__ = ("enable", "prev")

    def __init__(self, enable: bool = True) -> None:
        self.prev = _C._is_grad_layout_enforced()
        self.enable = enable
        _C._set_grad_layout_enforced(enable)

    def __call__(self, func: Any) -> Any:
        _C._set_grad_layout_enforced(self.prev)
        return super().__call__(func)

    def __enter__(self) -> None:
        _C._set_grad_layout_enforced(self.enable)

    def __exit__(self, *exc_info: object) -> None:
        _C._set_grad_layout_enforced(self.prev)

    def clone(self) -> enforce_grad_layout_policy:
        return type(self)(self.enable)


class _unsafe_preserve_version_counter(_Mode):
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
