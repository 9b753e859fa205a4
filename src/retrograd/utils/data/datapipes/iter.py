"""Pipes to go through."""

from __future__ import annotations

import copy
import fnmatch
import os
import random
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from typing import Any, NoReturn

import retrograd as torch
from retrograd.utils.data._utils.collate import default_collate
from retrograd.utils.data.datapipes.datapipe import DataChunk, IterDataPipe, functional_datapipe, warn_of_local
from retrograd.utils.data.sampler import Sampler as _Sampler, SequentialSampler

__all__ = [
    "Batcher", "Collator", "Concater", "Demultiplexer", "FileLister", "FileOpener", "Filter", "Forker", "Grouper", "IterableWrapper", "Mapper", "Multiplexer", "RoutedDecoder",
    "Sampler", "ShardingFilter", "Shuffler", "StreamReader", "UnBatcher", "Zipper",
]  # fmt: skip


def _length(pipe: Any) -> int:
    if not isinstance(pipe, Sized):
        raise TypeError(f"{type(pipe).__name__} instance doesn't have valid length")
    return len(pipe)


class IterableWrapperIterDataPipe(IterDataPipe):
    """The elements of an iterable, copied before each round unless `deepcopy` is False."""

    def __init__(self, iterable: Iterable[Any], deepcopy: bool = True) -> None:
        self.iterable, self.deepcopy = iterable, deepcopy

    def __iter__(self) -> Iterator[Any]:
        source = self.iterable
        if self.deepcopy:
            try:
                source = copy.deepcopy(source)
            except TypeError:  # a generator, say
                warnings.warn(
                    "The input iterable can not be deepcopied, please be aware of in-place modification would affect source data.",
                    stacklevel=2,
                )
        yield from source

    def __len__(self) -> int:
        if isinstance(self.iterable, Sized):
            return len(self.iterable)
        raise TypeError(f"{type(self).__name__} instance doesn't have valid length")


def _columns(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


@functional_datapipe("map")
class MapperIterDataPipe(IterDataPipe):
    """A function of each element, or of some of its places (`input_col`), put into a place (`output_col`; -1: at the end)."""

    def __init__(self, datapipe: Any, fn: Callable[..., Any], input_col: Any = None, output_col: Any = None) -> None:
        warn_of_local(fn)
        if input_col is None and output_col is not None:
            raise ValueError("`output_col` must be None when `input_col` is None.")
        if isinstance(output_col, (list, tuple)):
            if len(output_col) > 1:
                raise ValueError("`output_col` must be a single-element list or tuple")
            output_col = output_col[0]
        self.datapipe, self.fn, self.input_col, self.output_col = datapipe, fn, input_col, output_col

    def _apply(self, data: Any) -> Any:
        if self.input_col is None:
            return self.fn(data)
        columns = _columns(self.input_col)
        result = self.fn(*(data[column] for column in columns))
        is_tuple = isinstance(data, tuple)
        data = list(data) if is_tuple else copy.copy(data)
        if self.output_col is None:
            data[columns[0]] = result
            for column in sorted(columns[1:], reverse=True):
                del data[column]
        elif self.output_col == -1 and isinstance(data, list):
            data.append(result)
        else:
            data[self.output_col] = result
        return tuple(data) if is_tuple else data

    def __iter__(self) -> Iterator[Any]:
        for data in self.datapipe:
            yield self._apply(data)

    def __len__(self) -> int:
        return _length(self.datapipe)


@functional_datapipe("filter")
class FilterIterDataPipe(IterDataPipe):
    """The elements of which a function says True."""

    def __init__(self, datapipe: Any, filter_fn: Callable[..., bool], input_col: Any = None) -> None:
        warn_of_local(filter_fn)
        self.datapipe, self.filter_fn, self.input_col = datapipe, filter_fn, input_col

    def __iter__(self) -> Iterator[Any]:
        for data in self.datapipe:
            kept = (
                self.filter_fn(data) if self.input_col is None else self.filter_fn(*(data[column] for column in _columns(self.input_col)))
            )
            if not isinstance(kept, bool):
                raise ValueError("Boolean output is required for `filter_fn` of FilterIterDataPipe, got", type(kept))
            if kept:
                yield data


@functional_datapipe("batch")
class BatcherIterDataPipe(IterDataPipe):
    """Batches of so many elements; the last may have fewer."""

    def __init__(self, datapipe: Any, batch_size: int, drop_last: bool = False, wrapper_class: Any = DataChunk) -> None:
        assert batch_size > 0, "Batch size is required to be larger than 0!"
        self.datapipe, self.batch_size, self.drop_last, self.wrapper_class = datapipe, batch_size, drop_last, wrapper_class

    def __iter__(self) -> Iterator[Any]:
        batch: list[Any] = []
        for data in self.datapipe:
            batch.append(data)
            if len(batch) == self.batch_size:
                yield self.wrapper_class(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.wrapper_class(batch)

    def __len__(self) -> int:
        count = _length(self.datapipe)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


@functional_datapipe("unbatch")
class UnBatcherIterDataPipe(IterDataPipe):
    """The elements of batches, `unbatch_level` levels down; -1: all of them."""

    def __init__(self, datapipe: Any, unbatch_level: int = 1) -> None:
        self.datapipe, self.unbatch_level = datapipe, unbatch_level

    def __iter__(self) -> Iterator[Any]:
        for data in self.datapipe:
            yield from self._dive(data, self.unbatch_level)

    def _dive(self, data: Any, level: int) -> Iterator[Any]:
        if level < -1:
            raise ValueError("unbatch_level must be -1 or >= 0")
        if level == 0 or (level == -1 and not isinstance(data, (list, DataChunk))):
            yield data
        elif isinstance(data, (list, DataChunk)):
            for inner in data:
                yield from self._dive(inner, level if level == -1 else level - 1)
        else:
            raise IndexError(f"unbatch_level {self.unbatch_level} exceeds the depth of the DataPipe")


@functional_datapipe("collate")
class CollatorIterDataPipe(MapperIterDataPipe):
    """Batches as tensors: default_collate, or another function, of each."""

    def __init__(self, datapipe: Any, conversion: Any = default_collate, collate_fn: Any = None) -> None:
        super().__init__(datapipe, fn=collate_fn or conversion)


@functional_datapipe("shuffle")
class ShufflerIterDataPipe(IterDataPipe):
    """The elements in an order that is drawn, from a buffer of so many."""

    def __init__(self, datapipe: Any, *, buffer_size: int = 10000, unbatch_level: int = 0) -> None:
        assert buffer_size > 0, "buffer_size should be larger than 0"
        self.datapipe = datapipe if unbatch_level == 0 else datapipe.unbatch(unbatch_level=unbatch_level)
        self.buffer_size = buffer_size
        self._enabled, self._seed = True, None
        self._draw = random.Random()

    def set_shuffle(self, shuffle: bool = True) -> ShufflerIterDataPipe:
        """Whether there is an order to draw."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed: int) -> ShufflerIterDataPipe:
        """Of the next round; without one it comes from the default generator."""
        self._seed = seed  # type: ignore[assignment]
        return self

    def reset(self) -> None:
        if self._enabled:
            seed = int(torch.empty((), dtype=torch.int64).random_().item()) if self._seed is None else self._seed
            self._draw.seed(seed)
            self._seed = None

    def __iter__(self) -> Iterator[Any]:
        if not self._enabled:
            yield from self.datapipe
            return
        buffer: list[Any] = []
        for data in self.datapipe:
            if len(buffer) == self.buffer_size:
                at = self._draw.randrange(len(buffer))
                data, buffer[at] = buffer[at], data
                yield data
            else:
                buffer.append(data)
        self._draw.shuffle(buffer)
        while buffer:
            yield buffer.pop()

    def __len__(self) -> int:
        return _length(self.datapipe)


class SamplerIterDataPipe(IterDataPipe):
    """The places that a sampler gives of a source."""

    def __init__(
        self, datapipe: Any, sampler: type[_Sampler[Any]] = SequentialSampler, sampler_args: Any = None, sampler_kwargs: Any = None
    ) -> None:
        self.datapipe = datapipe
        self.sampler = sampler(*(sampler_args or ()), **{"data_source": datapipe, **(sampler_kwargs or {})})

    def __iter__(self) -> Iterator[Any]:
        return iter(self.sampler)

    def __len__(self) -> int:
        return _length(self.sampler)


@functional_datapipe("sharding_filter")
class ShardingFilterIterDataPipe(IterDataPipe):
    """Of several workers, each sees every so manieth element."""

    def __init__(self, datapipe: Any, sharding_group_filter: Any = None) -> None:
        self.datapipe, self.sharding_group_filter = datapipe, sharding_group_filter
        self.num_of_instances, self.instance_id = 1, 0

    def apply_sharding(self, num_of_instances: int, instance_id: int, sharding_group: Any = None) -> None:
        """Says how many there are, and which one this is."""
        if instance_id >= num_of_instances:
            raise ValueError(f"instance_id({instance_id}) should be smaller than num_of_instances({num_of_instances})")
        self.num_of_instances, self.instance_id = num_of_instances, instance_id

    def __iter__(self) -> Iterator[Any]:
        for i, data in enumerate(self.datapipe):
            if i % self.num_of_instances == self.instance_id:
                yield data

    def __len__(self) -> int:
        count = _length(self.datapipe)
        return count // self.num_of_instances + (self.instance_id < count % self.num_of_instances)


# -- several pipes ------------------------------------------------------------------------------------


@functional_datapipe("concat")
class ConcaterIterDataPipe(IterDataPipe):
    """One pipe behind the other."""

    def __init__(self, *datapipes: Any) -> None:
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        if not all(isinstance(pipe, IterDataPipe) for pipe in datapipes):
            raise TypeError("Expected all inputs to be `IterDataPipe`")
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Any]:
        for pipe in self.datapipes:
            yield from pipe

    def __len__(self) -> int:
        return sum(map(_length, self.datapipes))


@functional_datapipe("zip")
class ZipperIterDataPipe(IterDataPipe):
    """Tuples of the elements of each, as long as all have some."""

    def __init__(self, *datapipes: Any) -> None:
        if not all(isinstance(pipe, IterDataPipe) for pipe in datapipes):
            raise TypeError("All inputs are required to be `IterDataPipe` for `ZipIterDataPipe`.")
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Any]:
        yield from zip(*self.datapipes, strict=False)

    def __len__(self) -> int:
        return min(map(_length, self.datapipes))


@functional_datapipe("mux")
class MultiplexerIterDataPipe(IterDataPipe):
    """An element of each in turn, as long as all have some."""

    def __init__(self, *datapipes: Any) -> None:
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Any]:
        for elements in zip(*self.datapipes, strict=False):
            yield from elements

    def __len__(self) -> int:
        return min(map(_length, self.datapipes)) * len(self.datapipes)


class _Shared:
    """A pipe that several others take their elements from, each its own. What one has not taken yet waits in its queue."""

    _holds_pipes = True

    def __init__(
        self, datapipe: Any, count: int, buffer_size: int, name: str, route: Callable[[Any], Iterable[int]], copied: Callable[[Any], Any]
    ) -> None:
        self.datapipe, self.count, self.buffer_size, self.name, self.route, self.copied = datapipe, count, buffer_size, name, route, copied
        self.source: Iterator[Any] | None = None
        self.queues: list[deque[Any]] = [deque() for _ in range(count)]
        self.started: set[int] = set()

    def begin(self, child: int) -> None:
        """A child asks for a new iterator: when it has had one of this round, a new round begins for all."""
        if self.source is None or child in self.started:
            self.source, self.started = iter(self.datapipe), set()
            for queue in self.queues:
                queue.clear()
        self.started.add(child)

    def take(self, child: int) -> Iterator[Any]:
        while True:
            queue = self.queues[child]
            while not queue:
                assert self.source is not None
                try:
                    data = next(self.source)
                except StopIteration:
                    return
                for i in self.route(data):
                    self.queues[i].append(self.copied(data))
                    if self.buffer_size >= 0 and sum(map(len, self.queues)) - len(queue) > self.buffer_size * (
                        1 if self.name.startswith("Demul") else self.count
                    ):
                        raise BufferError(f"{self.name} buffer overflow, buffer size {self.buffer_size} is insufficient.")
            yield queue.popleft()


class _ChildDataPipe(IterDataPipe):
    """One of the pipes that fork() and demux() give."""

    def __init__(self, main_datapipe: _Shared, instance_id: int) -> None:
        self.main_datapipe, self.instance_id = main_datapipe, instance_id

    def __iter__(self) -> Iterator[Any]:
        self.main_datapipe.begin(self.instance_id)
        return self.main_datapipe.take(self.instance_id)

    def __len__(self) -> int:
        if self.main_datapipe.name.startswith("Demul"):
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
        return _length(self.main_datapipe.datapipe)


def _several(num_instances: int, buffer_size: int) -> None:
    if num_instances < 1:
        raise ValueError(f"Expected `num_instances` larger than 0, but {num_instances} is found")
    if buffer_size == 0:
        raise ValueError("Expected `buffer_size` larger than 0, but 0 is found")
    if buffer_size < 0:
        warnings.warn("Unlimited buffer size is set, please be aware of OOM risks", UserWarning, stacklevel=3)


@functional_datapipe("fork")
class ForkerIterDataPipe(IterDataPipe):
    """Several pipes with the elements of one; `copy`: None, "shallow" or "deep"."""

    def __new__(cls, datapipe: Any, num_instances: int, buffer_size: int = 1000, copy: str | None = None) -> Any:
        _several(num_instances, buffer_size)
        if num_instances == 1:
            return [datapipe]
        import copy as copies

        how = {None: lambda x: x, "shallow": copies.copy, "deep": copies.deepcopy}
        if copy not in how:
            raise ValueError(f"Unknown copy method `{copy}` provided, choose one of None, `shallow` or `deep`.")
        main = _Shared(datapipe, num_instances, buffer_size, cls.__name__, lambda data: range(num_instances), how[copy])
        return [_ChildDataPipe(main, i) for i in range(num_instances)]


@functional_datapipe("demux")
class DemultiplexerIterDataPipe(IterDataPipe):
    """Several pipes, for each element the one whose number a function gives; None, with `drop_none`, for none of them."""

    def __new__(
        cls, datapipe: Any, num_instances: int, classifier_fn: Callable[[Any], int | None], drop_none: bool = False, buffer_size: int = 1000
    ) -> Any:
        _several(num_instances, buffer_size)
        warn_of_local(classifier_fn)

        def route(data: Any) -> Sequence[int]:
            number = classifier_fn(data)
            if number is None and drop_none:
                return ()
            if number is None or not 0 <= number < num_instances:
                raise ValueError(f"Output of the classification fn should be between 0 and {num_instances - 1}. {number} is returned.")
            return (number,)

        main = _Shared(datapipe, num_instances, buffer_size, cls.__name__, route, lambda x: x)
        return [_ChildDataPipe(main, i) for i in range(num_instances)]


@functional_datapipe("groupby")
class GrouperIterDataPipe(IterDataPipe):
    """Lists of elements that a function gives one key, from a buffer of so many elements."""

    def __init__(
        self,
        datapipe: Any,
        group_key_fn: Callable[[Any], Any],
        *,
        keep_key: bool = False,
        buffer_size: int = 10000,
        group_size: int | None = None,
        guaranteed_group_size: int | None = None,
        drop_remaining: bool = False,
    ) -> None:
        warn_of_local(group_key_fn)
        if group_size is not None and not 0 < group_size <= buffer_size:
            raise ValueError(f"group_size must be > 0 and <= buffer_size, got group_size={group_size}, buffer_size={buffer_size}")
        if guaranteed_group_size is not None and not (group_size is not None and 0 < guaranteed_group_size <= group_size):
            raise ValueError("guaranteed_group_size must be > 0 and <= group_size and group_size must be set")
        self.datapipe, self.group_key_fn, self.keep_key, self.max_buffer_size = datapipe, group_key_fn, keep_key, buffer_size
        self.group_size, self.drop_remaining = group_size, drop_remaining
        self.guaranteed_group_size = guaranteed_group_size

    def _given(self, key: Any, group: list[Any]) -> Any:
        return (key, DataChunk(group)) if self.keep_key else DataChunk(group)

    def __iter__(self) -> Iterator[Any]:
        groups: dict[Any, list[Any]] = {}
        held = 0
        for data in self.datapipe:
            key = self.group_key_fn(data)
            groups.setdefault(key, []).append(data)
            held += 1
            if self.group_size is not None and self.group_size == len(groups[key]):
                held -= len(groups[key])
                yield self._given(key, groups.pop(key))
            if held == self.max_buffer_size:
                largest = max(groups, key=lambda k: len(groups[k]))
                group = groups.pop(largest)
                held -= len(group)
                if self.guaranteed_group_size is not None and len(group) < self.guaranteed_group_size and not self.drop_remaining:
                    raise RuntimeError("Failed to group items", str(group))
                if self.guaranteed_group_size is None or len(group) >= self.guaranteed_group_size:
                    yield self._given(largest, group)
        for key, group in groups.items():
            if self.guaranteed_group_size is not None and len(group) < self.guaranteed_group_size and self.drop_remaining:
                continue
            yield self._given(key, group)


# -- files ------------------------------------------------------------------------------------------


@functional_datapipe("list_files")
class FileListerIterDataPipe(IterDataPipe):
    """The names of files in folders."""

    def __init__(
        self,
        root: Any = ".",
        masks: Any = "",
        *,
        recursive: bool = False,
        abspath: bool = False,
        non_deterministic: bool = False,
        length: int = -1,
    ) -> None:
        self.datapipe = (
            IterableWrapperIterDataPipe([root] if isinstance(root, (str, os.PathLike)) else root)
            if not isinstance(root, IterDataPipe)
            else root
        )
        self.masks, self.recursive, self.abspath, self.length = masks, recursive, abspath, length

    def __iter__(self) -> Iterator[str]:
        masks = _columns(self.masks) if self.masks else []
        for root in self.datapipe:
            for folder, folders, names in os.walk(root):
                folders.sort()
                for name in sorted(names):
                    if not masks or any(fnmatch.fnmatch(name, mask) for mask in masks):
                        path = os.path.join(folder, name)
                        yield os.path.abspath(path) if self.abspath else path
                if not self.recursive:
                    break

    def __len__(self) -> int:
        if self.length == -1:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
        return self.length


@functional_datapipe("open_files")
class FileOpenerIterDataPipe(IterDataPipe):
    """Files as (name, open file)."""

    def __init__(self, datapipe: Iterable[str], mode: str = "r", encoding: str | None = None, length: int = -1) -> None:
        if mode not in ("b", "t", "rb", "rt", "r"):
            raise ValueError(f"Invalid mode {mode}")
        if "b" in mode and encoding is not None:
            raise ValueError("binary mode doesn't take an encoding argument")
        self.datapipe, self.mode, self.encoding, self.length = datapipe, mode if "r" in mode else "r" + mode, encoding, length

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        for name in self.datapipe:
            if not isinstance(name, (str, os.PathLike)):
                raise TypeError(f"Expected string type for pathname, but got {type(name)}")
            yield os.fspath(name), open(name, self.mode, encoding=self.encoding)  # noqa: SIM115 - whoever reads it closes it

    def __len__(self) -> int:
        if self.length == -1:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
        return self.length


@functional_datapipe("read_from_stream")
class StreamReaderIterDataPipe(IterDataPipe):
    """Files as (name, what is in them), or in pieces of `chunk`."""

    def __init__(self, datapipe: Any, chunk: int | None = None) -> None:
        self.datapipe, self.chunk = datapipe, chunk

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        for name, stream in self.datapipe:
            with stream:
                while data := stream.read() if self.chunk is None else stream.read(self.chunk):
                    yield name, data


@functional_datapipe("routed_decode")
class RoutedDecoderIterDataPipe(IterDataPipe):
    """Refused: decoders of images and sound are torchvision's and torchaudio's."""

    def __init__(self, datapipe: Any, *handlers: Any, key_fn: Any = None) -> None:
        _refuse("RoutedDecoder")

    def __iter__(self) -> Iterator[Any]:
        yield


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"torch.utils.data.datapipes.iter.{name}: decoders of images and sound are not here. Use map() with a function that decodes"
    )


Batcher = BatcherIterDataPipe
Collator = CollatorIterDataPipe
Concater = ConcaterIterDataPipe
Demultiplexer = DemultiplexerIterDataPipe
FileLister = FileListerIterDataPipe
FileOpener = FileOpenerIterDataPipe
Filter = FilterIterDataPipe
Forker = ForkerIterDataPipe
Grouper = GrouperIterDataPipe
IterableWrapper = IterableWrapperIterDataPipe
Mapper = MapperIterDataPipe
Multiplexer = MultiplexerIterDataPipe
RoutedDecoder = RoutedDecoderIterDataPipe
Sampler = SamplerIterDataPipe
ShardingFilter = ShardingFilterIterDataPipe
Shuffler = ShufflerIterDataPipe
StreamReader = StreamReaderIterDataPipe
UnBatcher = UnBatcherIterDataPipe
Zipper = ZipperIterDataPipe
