"""torch.futures: a result that somebody will set, waited for or followed by functions."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")
S = TypeVar("S")


class Future(Generic[T]):
    """A value, or an exception, that is set once."""

    def __init__(self, *, devices: list[Any] | None = None) -> None:
        self._ready = threading.Condition()
        self._done = False
        self._value: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Future[T]], Any]] = []

    def done(self) -> bool:
        """Whether it is set."""
        return self._done

    def wait(self) -> T:
        """The value, as soon as it is set; raises if that is an exception."""
        with self._ready:
            self._ready.wait_for(self.done)
        return self.value()

    def value(self) -> T:
        """The value, which has to be set."""
        if not self._done:
            raise RuntimeError("the Future has no value yet: call wait(), or ask done() first")
        if self._error is not None:
            raise self._error
        return self._value

    def set_result(self, result: T) -> None:
        """Sets the value."""
        self._set(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Sets an exception, which wait() will raise."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._set(None, result)

    def _set(self, value: Any, error: BaseException | None) -> None:
        with self._ready:
            if self._done:
                raise RuntimeError("Future can only be marked completed once: it has its value already")
            self._value, self._error, self._done = value, error, True
            callbacks, self._callbacks = self._callbacks, []
            self._ready.notify_all()
        for callback in callbacks:
            callback(self)

    def add_done_callback(self, callback: Callable[[Future[T]], None]) -> None:
        """Calls a function with this future when it is set, at once if it is."""
        with self._ready:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback(self)

    def then(self, callback: Callable[[Future[T]], S]) -> Future[S]:
        """A future of what a function will return for this one."""
        following: Future[S] = Future()

        def run(this: Future[T]) -> None:
            try:
                result = callback(this)
            except Exception as error:
                following.set_exception(error)
            else:
                following.set_result(result)

        self.add_done_callback(run)
        return following

    def __reduce__(self) -> Any:
        raise TypeError("a Future cannot be pickled: wait for it and send its value")


def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """A future that is set, to the list, when all of these are."""
    every: Future[list[Future[Any]]] = Future()
    waiting = len(futures)
    lock = threading.Lock()
    if not futures:
        every.set_result([])

    def one_more(_: Future[Any]) -> None:
        nonlocal waiting
        with lock:
            waiting -= 1
            last = waiting == 0
        if last:
            every.set_result(futures)

    for future in futures:
        future.add_done_callback(one_more)
    return every


def wait_all(futures: list[Future[Any]]) -> list[Any]:
    """The values of all; raises the first exception among them."""
    return [future.wait() for future in collect_all(futures).wait()]
