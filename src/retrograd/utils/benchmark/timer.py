"""Timer: times a statement with a fixed number of threads, after a warm-up, as often as it takes for the times to mean something."""

from __future__ import annotations

import enum
import textwrap
import time
import timeit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import retrograd as torch
from retrograd.utils.benchmark.callgrind import CopyIfCallgrind
from retrograd.utils.benchmark.measurement import Measurement, TaskSpec

timer = time.perf_counter
_SHORTEST = 1e-3  # seconds that a run should take, so that the clock does not matter


class Language(enum.Enum):
    """What a statement is written in."""

    PYTHON = 0
    CPP = 1


class CallgrindStats:
    """Counts of instructions: not here."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse_callgrind()


def _refuse_callgrind() -> NoReturn:
    raise NotImplementedError(
        "torch.utils.benchmark: counting instructions with Callgrind needs Valgrind and a build of the interpreter for it; it is not supported. "
        "Use blocked_autorange() or adaptive_autorange()."
    )


@contextmanager
def set_torch_threads(n: int) -> Iterator[None]:
    """A block in which kernels use `n` threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Timer:
    """Times a statement.

    Args:
        stmt, setup, timer, globals: as `timeit.Timer`.
        global_setup: of C++; not supported.
        label, sub_label, description, env: what it is called in tables.
        num_threads: that kernels use.
        language: Python.

    Example:
        >>> measured = torch.utils.benchmark.Timer("x + 1", globals={"x": torch.ones(4)}).timeit(10)
        >>> measured.number_per_run, len(measured.times)
        (10, 1)
    """

    _timer_cls = timeit.Timer

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Any = Language.PYTHON,
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if language not in (Language.PYTHON, "py", "python"):
            raise NotImplementedError(
                "torch.utils.benchmark.Timer: statements in C++ are compiled against PyTorch's headers, which are not here"
            )
        if global_setup:
            raise ValueError(f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be moved to `setup`.")
        stmt, setup = textwrap.dedent(stmt).strip(), textwrap.dedent(setup).strip()
        names = CopyIfCallgrind.unwrap_all(globals or {})
        names.setdefault("torch", torch)
        self._globals = names
        self._timer = self._timer_cls(stmt=stmt, setup=setup, timer=timer, globals=names)
        self._task_spec = TaskSpec(stmt, setup, "", label, sub_label, description, env, num_threads)

    def _timeit(self, number: int) -> float:
        return max(self._timer.timeit(number), 1e-9)

    def timeit(self, number: int = 1000000) -> Measurement:
        """One run of `number` executions."""
        with set_torch_threads(self._task_spec.num_threads):
            self._timeit(max(number // 100, 2))
            return Measurement(number, [self._timeit(number)], self._task_spec)

    def repeat(self, repeat: int = -1, number: int = -1) -> NoReturn:
        """`blocked_autorange` chooses both."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback: Callable[[int, float], NoReturn] | None = None) -> NoReturn:
        """`blocked_autorange` is what to use."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def _block_size(self, min_run_time: float) -> int:
        number = 1
        while True:
            taken = self._timeit(number)
            if taken >= min(_SHORTEST, min_run_time / 1000) or number >= 10**9:
                return number
            number *= 10

    def blocked_autorange(self, callback: Callable[[int, float], Any] | None = None, min_run_time: float = 0.2) -> Measurement:
        """Runs of a size that makes the clock's share small, until they have taken `min_run_time` seconds."""
        with set_torch_threads(self._task_spec.num_threads):
            number = self._block_size(min_run_time)
            times: list[float] = []
            while sum(times) < min_run_time:
                times.append(self._timeit(number))
                if callback is not None:
                    callback(number, times[-1])
        return Measurement(number, times, self._task_spec)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> Measurement:
        """Runs until the middle half of the times is narrower than `threshold` of the median, or `max_run_time` is over."""
        with set_torch_threads(self._task_spec.num_threads):
            number = self._block_size(0.05)
            times: list[float] = []
            while True:
                times.append(self._timeit(number))
                if callback is not None:
                    callback(number, times[-1])
                spent, found = sum(times), Measurement(number, times, self._task_spec)
                if spent >= max_run_time or (spent >= min_run_time and len(times) > 3 and found.meets_confidence(threshold)):
                    return found

    def collect_callgrind(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Counts of instructions: not here."""
        _refuse_callgrind()
