"""Processes that run one function each, and fail together."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import Any

__all__ = [
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "spawn",
    "start_processes",
]


class ProcessException(Exception):
    """A process failed."""

    def __init__(self, msg: str, error_index: int, pid: int | None) -> None:
        super().__init__(msg)
        self.msg = msg
        self.error_index = error_index
        self.error_pid = pid
        self.pid = pid

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """A process raised an exception."""


class ProcessExitedException(ProcessException):
    """A process was killed, or ended with another exit code than 0."""

    def __init__(self, msg: str, error_index: int, pid: int | None, exit_code: int, signal_name: str | None = None) -> None:
        super().__init__(msg, error_index, pid)
        self.exit_code = exit_code
        self.signal_name = signal_name

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)


def _run(function: Callable[..., Any], i: int, args: tuple[Any, ...], errors: Connection) -> None:
    try:
        function(i, *args)
    except KeyboardInterrupt:
        pass  # the parent has it too, and says so
    except Exception:
        errors.send(traceback.format_exc())
        sys.exit(1)


class ProcessContext:
    """Processes that were started together."""

    def __init__(self, processes: list[Any], errors: list[Connection]) -> None:
        self.processes = processes
        self._errors = errors
        self.sentinels = {process.sentinel: i for i, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """Their ids."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Waits until one of them ends. True when all have; when one failed, ends the others and raises an exception that says why."""
        if not self.sentinels:
            return True
        failed = None
        for sentinel in wait(self.sentinels.keys(), timeout):
            i = self.sentinels.pop(sentinel)
            self.processes[i].join()
            if self.processes[i].exitcode:
                failed = i
                break
        if failed is None:
            return not self.sentinels
        self._end_others(30 if grace_period is None else grace_period)
        raise self._failure(failed)

    def _end_others(self, grace_period: float) -> None:
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        end = time.monotonic() + grace_period
        for process in self.processes:
            process.join(max(0, end - time.monotonic()))
            if process.is_alive():
                process.kill()
            process.join()

    def _failure(self, i: int) -> ProcessException:
        process, errors = self.processes[i], self._errors[i]
        try:
            text = f"\n\n-- Process {i} terminated with the following error:\n{errors.recv()}"
            return ProcessRaisedException(text, i, process.pid)
        except EOFError:
            pass  # it had no time to say anything
        code = process.exitcode
        if code < 0:
            name = signal.Signals(-code).name
            return ProcessExitedException(f"process {i} terminated with signal {name}", i, process.pid, code, name)
        return ProcessExitedException(f"process {i} terminated with exit code {code}", i, process.pid, code)


class SpawnContext(ProcessContext):
    """Processes that were started anew, not forked."""


def start_processes(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Runs fn(i, *args) in process i of `nprocs`. Waits for them, unless `join` is false: then the context does, which is returned."""
    context = multiprocessing.get_context(start_method)
    processes, errors = [], []
    for i in range(nprocs):
        mine, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(fn, i, args, theirs), daemon=daemon)  # type: ignore[attr-defined]
        process.start()
        theirs.close()
        processes.append(process)
        errors.append(mine)
    together = (SpawnContext if start_method == "spawn" else ProcessContext)(processes, errors)
    if not join:
        return together
    while not together.join():
        pass
    return None


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Runs fn(i, *args) in process i of `nprocs`, each a new interpreter. When one fails, the others are ended and its error is raised."""
    return start_processes(fn, args, nprocs, join, daemon, start_method)
