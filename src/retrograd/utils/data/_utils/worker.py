"""A worker process of a DataLoader: takes keys, gives batches."""

from __future__ import annotations

import dataclasses
import queue
import random
import sys
import threading
from collections.abc import Callable
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from typing import Any

import retrograd as torch
from retrograd._utils import ExceptionWrapper
from retrograd.utils.data._utils.transport import send


@dataclasses.dataclass(repr=False)
class WorkerInfo:
    """What a worker knows of itself."""

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str = "multiprocessing"

    def __repr__(self) -> str:
        return f"WorkerInfo({', '.join(f'{f.name}={getattr(self, f.name)}' for f in dataclasses.fields(self))})"


_worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """The worker that this process is, with its id, their number, its seed and its copy of the dataset; None in the main process."""
    return _worker_info


@dataclasses.dataclass
class Ended:
    """The stream of a worker has no more samples."""

    worker_id: int


@dataclasses.dataclass
class Resume:
    """A new epoch begins."""


def _seed(seed: int, worker_id: int, base_seed: int) -> None:
    random.seed(seed)
    torch.manual_seed(seed)
    if numpy := sys.modules.get("numpy"):
        entropy = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
        numpy.random.seed(numpy.random.SeedSequence(entropy).generate_state(4))


def _listen(tasks: Connection, inbox: queue.SimpleQueue[Any]) -> None:
    """Takes tasks off the pipe as they come, so that the main process never waits in writing one, and notices when it is gone."""
    parent = parent_process()
    ends: list[Any] = [tasks] if parent is None else [tasks, parent.sentinel]
    try:
        while tasks in wait(ends):
            task = tasks.recv()
            inbox.put(task)
            if task is None:
                return
    except (EOFError, OSError):
        pass  # the other end is closed
    inbox.put(None)


def run(
    make_fetcher: Callable[[], Any],
    dataset: Any,
    tasks: Connection,
    results: Connection,
    owner: int,
    base_seed: int,
    worker_id: int,
    num_workers: int,
    init_fn: Callable[[int], Any] | None,
) -> None:
    """The life of a worker: tasks are (number, keys) until there is None."""
    global _worker_info
    torch.set_num_threads(1)
    seed = base_seed + worker_id
    _seed(seed, worker_id, base_seed)
    _worker_info = WorkerInfo(worker_id, num_workers, seed, dataset)
    where = f"in DataLoader worker process {worker_id}"
    inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(tasks, inbox), daemon=True).start()
    failure: Any = None
    fetcher: Any = None
    try:
        if init_fn is not None:
            init_fn(worker_id)
        fetcher = make_fetcher()
    except Exception:
        failure = ExceptionWrapper(where=where)
    try:
        while (task := inbox.get()) is not None:
            if isinstance(task, Resume):
                fetcher = make_fetcher()
                continue
            number, keys = task
            result: Any = failure
            failure = None
            if result is None:
                try:
                    result = fetcher.fetch(keys)
                except StopIteration:
                    result = Ended(worker_id)
                except Exception:
                    result = ExceptionWrapper(where=where)
            try:
                send(results, (number, result), owner)
            except (BrokenPipeError, ConnectionResetError):
                return
            except Exception:  # it cannot be pickled
                send(results, (number, ExceptionWrapper(where=where)), owner)
    except KeyboardInterrupt:
        pass  # the main process has it too, and says so
    finally:
        results.close()
