"""torch.profiler.itt: marks for Intel's VTune, whose library is not part of this build."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import NoReturn

__all__ = ["is_available", "mark", "range", "range_pop", "range_push"]


def is_available() -> bool:
    return False


def _refuse(name: str) -> NoReturn:
    raise RuntimeError(f"torch.profiler.itt.{name}: ITT functions not installed. Intel's library is not part of this build")


def range_push(msg: str) -> int:
    _refuse("range_push")


def range_pop() -> int:
    _refuse("range_pop")


def mark(msg: str) -> int:
    _refuse("mark")


@contextlib.contextmanager
def range(msg: str, *args: object, **kwargs: object) -> Iterator[None]:
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
