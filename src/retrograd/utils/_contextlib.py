"""Context managers as decorators: of functions, generators, coroutines, asynchronous generators and classes.

The context holds while the body of the function runs: for a generator, coroutine or asynchronous generator that is each
step of it, never the caller's code between two steps.
"""

from __future__ import annotations

import functools
import inspect
import types
import warnings
from collections.abc import Callable
from typing import Any

from retrograd import _C
from retrograd._C import _DecoratorContextManager

__all__ = ["_DecoratorContextManager"]

# The types whose contexts need not be Python objects that a `with` statement enters. set_grad_enabled acts when it is made.
_NATIVE = (_C.no_grad, _C.enable_grad, _C.inference_mode)


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


def _around_function_natively(func: Any, manager: _DecoratorContextManager, code: types.CodeType) -> Any:
    inside = _C._call_inside

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return inside(manager, code, func, args, kwargs)

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


def _contexts(manager: _DecoratorContextManager, func: Any) -> Callable[[], Any]:
    """Makes a context for each call of `func`. The modes remember that they decorate it: errors name it when they explain a lost history."""
    code = _code_of(func)
    return functools.partial(_C._clone_for, manager, code) if code is not None else manager.clone


def _code_of(func: Any) -> types.CodeType | None:
    code = getattr(inspect.unwrap(func), "__code__", None)
    return code if isinstance(code, types.CodeType) else None


def _wrap_function(func: Any, manager: _DecoratorContextManager) -> Any:
    """`func` with its body inside a clone of `manager`, and still of the same kind of function."""
    context = _contexts(manager, func)
    if inspect.isgeneratorfunction(func):
        around = _around_generator
    elif inspect.iscoroutinefunction(func):
        around = _around_coroutine
    elif inspect.isasyncgenfunction(func):
        around = _around_async_generator
    elif type(manager) in _NATIVE and (code := _code_of(func)) is not None:
        return functools.update_wrapper(_around_function_natively(func, manager, code), func)
    else:
        around = _around_function
    return functools.update_wrapper(around(func, context), func)


def _wrap_class(cls: type, manager: _DecoratorContextManager) -> type:
    warnings.warn(
        "Decorating classes is deprecated and will be disabled in future versions. "
        "Only `__init__` runs in the mode: decorate it, or the methods that need the mode, instead.",
        FutureWarning,
        stacklevel=3,
    )
    cls.__init__ = _wrap_function(cls.__init__, manager)  # type: ignore[misc]
    return cls


def decorate(manager: _DecoratorContextManager, func: Any) -> Any:
    """What `manager(func)` gives: each call of it enters a clone of `manager`."""
    if not callable(func) and not hasattr(func, "__get__"):
        raise TypeError(f"{type(manager).__name__} decorates functions and classes, but got {type(func).__name__}: {func!r}")
    return _wrap_class(func, manager) if isinstance(func, type) else _wrap_function(func, manager)
