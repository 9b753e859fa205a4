"""DataLoader: batches of a dataset, made in this process or by others."""

from __future__ import annotations

import contextlib
import functools
import itertools
import multiprocessing
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

from retrograd import _C, Generator
from retrograd._utils import ExceptionWrapper
from retrograd.utils.data._utils import fetch as _fetch, transport as _transport, worker as _worker
from retrograd.utils.data._utils.collate import default_collate as default_collate, default_convert as default_convert
from retrograd.utils.data._utils.worker import get_worker_info as get_worker_info
from retrograd.utils.data.dataset import Dataset, IterableDataset
from retrograd.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, drawn_seed

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

_T_co = TypeVar("_T_co", covariant=True)
_collate_fn_t = Callable[[list[Any]], Any]  # libraries annotate with these two
_worker_init_fn_t = Callable[[int], None]
_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
_ENDS = {  # of workers, by exit code
    -9: "It was killed, as the system does when memory runs out: use fewer workers or smaller batches.",
    -7: "A bus error: most often shared memory ran out (/dev/shm; a container needs a larger --shm-size).",
    -11: "A segmentation fault, in code that the dataset calls.",
}
_LAST_WORDS = 5.0  # seconds that a worker has to end by itself


class _DatasetKind:
    Map = 0
    Iterable = 1


class _InfiniteConstantSampler(Sampler[None]):
    """No keys, without end: streams have none."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


class DataLoader(Generic[_T_co]):
    """Batches of a dataset.

    Keys come from `sampler` (or `shuffle`), are gathered to batches of `batch_size`, or come so from `batch_sampler`; the samples of a batch are
    joined by `collate_fn`. With `batch_size=None` samples come as they are. With `num_workers` other processes fetch, `prefetch_factor` batches ahead
    each; the memory of tensors is shared, not copied through pipes, where they are large.

    >>> loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.arange(5)), batch_size=2)
    >>> [batch.tolist() for [batch] in loader]
    [[0, 1], [2, 3], [4]]
    """

    dataset: Dataset[_T_co]
    batch_size: int | None
    num_workers: int
    pin_memory: bool
    drop_last: bool
    timeout: float
    sampler: Any
    pin_memory_device: str
    prefetch_factor: int | None
    _iterator: _BaseDataLoaderIter | None = None
    __initialized = False

    def __init__(
        self,
        dataset: Dataset[_T_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[Any] | Iterable[Any] | None = None,
        batch_sampler: Sampler[list[Any]] | Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if timeout < 0:
            raise ValueError(f"timeout option should be non-negative, got {timeout}")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError(
                "prefetch_factor option could only be specified in multiprocessing."
                "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
            )
        if num_workers > 0 and prefetch_factor is None:
            prefetch_factor = 2
        elif prefetch_factor is not None and prefetch_factor < 0:
            raise ValueError("prefetch_factor option should be non-negative")
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self._dataset_kind = _DatasetKind.Iterable if isinstance(dataset, IterableDataset) else _DatasetKind.Map
        if _is_pipe(dataset) and self._dataset_kind == _DatasetKind.Iterable:
            from retrograd.utils.data.graph_settings import apply_shuffle_settings

            apply_shuffle_settings(dataset, shuffle)
            shuffle = None
        if self._dataset_kind == _DatasetKind.Iterable:
            for name, value in (("shuffle", shuffle or None), ("sampler", sampler), ("batch_sampler", batch_sampler)):
                if value is not None:
                    raise ValueError(f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}")
        elif shuffle:
            shuffle = True
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
            batch_size = None
            drop_last = False
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            if self._dataset_kind == _DatasetKind.Iterable:
                sampler = _InfiniteConstantSampler()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            keys: Any = sampler
            batch_sampler = BatchSampler(keys, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler: Any = batch_sampler
        self.generator = generator
        self.collate_fn: Callable[[Any], Any] = collate_fn or (default_collate if batch_sampler is not None else default_convert)
        self.persistent_workers = persistent_workers
        self._told_length: int | None = None  # what len() said of a stream
        self.check_worker_number_rationality()
        self.__initialized = True

    def __setattr__(self, name: str, value: Any) -> None:
        if self.__initialized and name in _FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @property
    def multiprocessing_context(self) -> Any:
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        if context is not None:
            if self.num_workers == 0:
                raise ValueError(
                    f"multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got num_workers={self.num_workers}"
                )
            if isinstance(context, str):
                known = multiprocessing.get_all_start_methods()
                if context not in known:
                    raise ValueError(
                        f"multiprocessing_context option should specify a valid start method in {known!r}, but got "
                        f"multiprocessing_context={context!r}"
                    )
                context = multiprocessing.get_context(context)
            elif not isinstance(context, multiprocessing.context.BaseContext):
                raise TypeError(
                    "multiprocessing_context option should be a valid context object or a string specifying the start method, but got "
                    f"multiprocessing_context={context}"
                )
        self.__multiprocessing_context = context

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        """What gives the keys of one fetch."""
        return self.batch_sampler if self._auto_collation else self.sampler

    def _get_iterator(self) -> _BaseDataLoaderIter:
        return _MultiProcessingDataLoaderIter(self) if self.num_workers else _SingleProcessDataLoaderIter(self)

    def __iter__(self) -> _BaseDataLoaderIter:
        if not (self.persistent_workers and self.num_workers):
            return self._get_iterator()
        if self._iterator is None:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    def __len__(self) -> int:
        if self._dataset_kind != _DatasetKind.Iterable:
            return len(self._index_sampler)
        length = self._told_length = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)

    def check_worker_number_rationality(self) -> None:
        """Warns where there are more workers than processors."""
        usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        if usable is not None and self.num_workers > usable:
            warnings.warn(
                f"This DataLoader will create {self.num_workers} worker processes in total. Our suggested max number of worker in current "
                f"system is {usable}, which is smaller than what this DataLoader is going to create. Please be aware that excessive worker "
                "creation might get DataLoader running slow or even freeze, lower the worker number to avoid potential slowness/freeze if "
                "necessary.",
                stacklevel=3,
            )


def _is_pipe(dataset: Any) -> bool:
    """Whether it is a data pipe; there is none before these are imported."""
    pipes = sys.modules.get("retrograd.utils.data.datapipes.datapipe")
    return pipes is not None and isinstance(dataset, (pipes.IterDataPipe, pipes.MapDataPipe))


def _make_fetcher(
    kind: int, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool, base_seed: int = 0
) -> Any:
    if _is_pipe(dataset):
        from retrograd.utils.data.datapipes.datapipe import prepare

        info = get_worker_info()
        prepare(dataset, base_seed, info.num_workers if info else 0, info.id if info else 0)
    maker = _fetch._IterableDatasetFetcher if kind == _DatasetKind.Iterable else _fetch._MapDatasetFetcher
    return maker(dataset, auto_collation, collate_fn, drop_last)


class _BaseDataLoaderIter:
    """One pass over a loader."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self._dataset = loader.dataset  # and not the loader: one that is dropped takes workers that stay along
        self._dataset_kind = loader._dataset_kind
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        self._timeout = loader.timeout
        self._sampler_iter = iter(self._index_sampler)
        self._base_seed = drawn_seed(loader.generator)
        self._persistent_workers = loader.persistent_workers
        self._num_yielded = 0
        self._told_length = loader._told_length
        if loader.pin_memory:
            warnings.warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used.", stacklevel=4
            )

    def _reset(self, loader: DataLoader[Any], first: bool = False) -> None:
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0
        self._told_length = loader._told_length

    def _fetcher(self, loader: DataLoader[Any]) -> Callable[[], Any]:
        return functools.partial(
            _make_fetcher,
            self._dataset_kind,
            self._dataset,
            loader._auto_collation,
            loader.collate_fn,
            loader.drop_last,
            self._base_seed,
        )

    def __iter__(self) -> _BaseDataLoaderIter:
        return self

    def __len__(self) -> int:
        return len(self._index_sampler)

    def _next_data(self) -> Any:
        raise NotImplementedError

    def __next__(self) -> Any:
        if not _C._recording():
            return self._next()
        block = _C._begin_block(f"enumerate(DataLoader)#{type(self).__name__}.__next__")
        try:
            return self._next()
        finally:
            _C._end_block(block)

    def _next(self) -> Any:
        data = self._next_data()
        self._num_yielded += 1
        if self._told_length is not None:
            self._check_length(self._told_length)
        return data

    def _check_length(self, told: int) -> None:
        """A stream gave more than it said. As in PyTorch batches are counted, so it is certain."""
        if self._num_yielded > told:
            warnings.warn(
                f"Length of IterableDataset {self._dataset} was reported to be {told} (when accessing len(dataloader)), but "
                f"{self._num_yielded} samples have been fetched. For multiprocessing data-loading, this could be caused by not properly "
                "configuring the IterableDataset replica at each worker: see get_worker_info().",
                stacklevel=4,
            )


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        self._dataset_fetcher = self._fetcher(loader)()
        self._fetch = self._dataset_fetcher.fetch

    def _next_data(self) -> Any:
        return self._fetch(next(self._sampler_iter))


class _Worker:
    """A worker process and the pipes to it."""

    def __init__(self, context: Any, target: Callable[[Connection, Connection], tuple[Callable[..., Any], tuple[Any, ...]]]) -> None:
        tasks, self.tasks = context.Pipe(duplex=False)
        self.results, results = context.Pipe(duplex=True)  # sockets: handles of segments go along
        function, arguments = target(tasks, results)
        self.process = context.Process(target=function, args=arguments, daemon=True)
        self.process.start()
        tasks.close()
        results.close()
        self.active = True  # it may have samples left

    def stop(self) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it is gone
            self.tasks.send(None)
        self.tasks.close()
        self.results.close()

    def join(self) -> None:
        self.process.join(timeout=_LAST_WORDS)
        if self.process.is_alive():
            self.process.terminate()
            self.process.join()


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Tasks are numbered and dealt to the workers in turn; results are given in the order of the numbers."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        self._ahead: int = loader.prefetch_factor or 1
        self._in_order = loader.in_order
        self._workers: list[_Worker] = []
        self._owner = os.getpid()
        self._stopped = False
        context = loader.multiprocessing_context or multiprocessing.get_context()
        fetcher = self._fetcher(loader)
        for i in range(self._num_workers):

            def target(tasks: Connection, results: Connection, i: int = i) -> tuple[Callable[..., Any], tuple[Any, ...]]:
                arguments = (fetcher, self._dataset, tasks, results, self._owner, self._base_seed, i, self._num_workers)
                return _worker.run, (*arguments, loader.worker_init_fn)

            self._workers.append(_Worker(context, target))
        self._reset(loader, first=True)

    def _reset(self, loader: DataLoader[Any], first: bool = False) -> None:
        if self._stopped:
            raise RuntimeError("the workers of this DataLoader have ended after an error: make a new DataLoader")
        if not first:
            while self._task_of:  # what was asked for and never taken
                self._take()
            super()._reset(loader)
            for worker in self._workers:
                worker.active = True
                worker.tasks.send(_worker.Resume())
        self._next_number = 0  # of the next task
        self._wanted = 0  # of the next result
        self._task_of: dict[int, _Worker] = {}  # those who work on the tasks without result
        self._results: dict[int, Any] = {}
        self._turn = 0
        for _ in range(self._ahead * self._num_workers):
            self._put()

    def _put(self) -> None:
        """Gives the next keys to the next worker that can have samples."""
        for _ in range(self._num_workers):
            worker = self._workers[self._turn]
            self._turn = (self._turn + 1) % self._num_workers
            if worker.active:
                break
        else:
            return
        try:
            keys = next(self._sampler_iter)
        except StopIteration:
            return
        self._task_of[self._next_number] = worker
        try:
            worker.tasks.send((self._next_number, keys))
        except (BrokenPipeError, ConnectionResetError):
            self._fail_dead()
        self._next_number += 1

    def _take(self) -> None:
        """Waits for a result of any worker and keeps it."""
        busy = {worker.results: worker for worker in self._task_of.values()}
        deadline = time.monotonic() + self._timeout if self._timeout else None
        while True:
            ends = [*busy, *(worker.process.sentinel for worker in busy.values())]
            ready = wait(ends, None if deadline is None else max(0.0, deadline - time.monotonic()))
            if not ready:
                self._shutdown_workers()
                raise RuntimeError(
                    f"DataLoader timed out after {self._timeout} seconds: {len(busy)} workers are still at their samples\n"
                    "  Hint: try num_workers=0, which shows where the dataset waits, or a longer timeout."
                )
            pipes = [end for end in ready if end in busy]
            if not pipes:
                self._fail_dead()
            try:
                number, result = _transport.receive(pipes[0])  # type: ignore[arg-type]
            except (EOFError, ConnectionResetError):
                self._fail_dead()
            worker = self._task_of.pop(number)
            if isinstance(result, _worker.Ended):
                worker.active = False
                self._put()
            else:
                self._results[number] = result
            return

    def _fail_dead(self) -> None:
        for worker in self._workers:
            worker.process.join(timeout=0.5)
        dead = [worker.process for worker in self._workers if not worker.process.is_alive()]
        pids = ", ".join(str(process.pid) for process in dead)
        codes = {process.exitcode for process in dead}
        self._shutdown_workers()
        raise RuntimeError(
            f"DataLoader worker (pid(s) {pids}) exited unexpectedly (exit code {', '.join(map(str, codes))})"
            + "".join(f"\n  {_ENDS[code]}" for code in codes if code in _ENDS)
            + "\n  Hint: try num_workers=0, which runs the dataset in this process and shows what it does."
        )

    def _next_data(self) -> Any:
        while True:
            if not self._in_order and self._results:
                number = next(iter(self._results))
                break
            while self._wanted < self._next_number and self._wanted not in self._results and self._wanted not in self._task_of:
                self._wanted += 1  # a worker had no more samples
            if self._wanted in self._results:
                number = self._wanted
                break
            if not self._task_of:
                if not self._persistent_workers:
                    self._shutdown_workers()
                raise StopIteration
            self._take()
        result = self._results.pop(number)
        self._put()
        if isinstance(result, ExceptionWrapper):
            result.reraise()
        return result

    def _shutdown_workers(self) -> None:
        if self._stopped or os.getpid() != self._owner:
            return  # a copy in a process that was forked has no workers of its own
        self._stopped = True
        for worker in self._workers:
            worker.stop()
        for worker in self._workers:
            worker.join()

    def __del__(self) -> None:
        if hasattr(self, "_stopped"):  # made at all
            self._shutdown_workers()
