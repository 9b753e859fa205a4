"""Python's multiprocessing, with tensors that go between processes as memory that both have."""

from __future__ import annotations

import multiprocessing as _multiprocessing
from multiprocessing import *  # noqa: F403
from typing import Any as _Any

from retrograd.multiprocessing import reductions as reductions
from retrograd.multiprocessing.spawn import (
    ProcessContext as ProcessContext,
    ProcessExitedException as ProcessExitedException,
    ProcessRaisedException as ProcessRaisedException,
    SpawnContext as SpawnContext,
    spawn as spawn,
    start_processes as start_processes,
)

# Both mean the same here: a segment goes from process to process as a handle.
_STRATEGIES = frozenset({"file_descriptor", "file_system"})
_strategy = "file_descriptor"


def get_all_sharing_strategies() -> set[str]:
    """The names of the ways to share memory."""
    return set(_STRATEGIES)


def get_sharing_strategy() -> str:
    """The name of the way in use."""
    return _strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """Chooses the way to share memory. There is one, by file handles, under both of PyTorch's names."""
    global _strategy
    if new_strategy not in _STRATEGIES:
        raise AssertionError(f"invalid sharing strategy {new_strategy!r}, expected one of {set(_STRATEGIES)}")
    _strategy = new_strategy


def __getattr__(name: str) -> _Any:
    return getattr(_multiprocessing, name)


reductions.init_reductions()
