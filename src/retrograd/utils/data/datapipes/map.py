"""Pipes with places."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from retrograd.utils.data.datapipes.datapipe import DataChunk, MapDataPipe, functional_datapipe, warn_of_local
from retrograd.utils.data.datapipes.iter import ShufflerIterDataPipe as _IterShuffler

__all__ = ["Batcher", "Concater", "Mapper", "SequenceWrapper", "Shuffler", "Zipper"]


class SequenceWrapperMapDataPipe(MapDataPipe):
    """A sequence, or a dict, copied unless `deepcopy` is False."""

    def __init__(self, sequence: Any, deepcopy: bool = True) -> None:
        if deepcopy:
            try:
                sequence = copy.deepcopy(sequence)
            except TypeError:
                warnings.warn(
                    "The input sequence can not be deepcopied, please be aware of in-place modification would affect source data",
                    stacklevel=2,
                )
        self.sequence = sequence

    def __getitem__(self, index: Any) -> Any:
        return self.sequence[index]

    def __len__(self) -> int:
        return len(self.sequence)


@functional_datapipe("map")
class MapperMapDataPipe(MapDataPipe):
    """A function of each element."""

    def __init__(self, datapipe: Any, fn: Callable[[Any], Any] = lambda x: x) -> None:
        warn_of_local(fn)
        self.datapipe, self.fn = datapipe, fn

    def __getitem__(self, index: Any) -> Any:
        return self.fn(self.datapipe[index])

    def __len__(self) -> int:
        return len(self.datapipe)


@functional_datapipe("batch")
class BatcherMapDataPipe(MapDataPipe):
    """Batches of so many elements; the last may have fewer."""

    def __init__(self, datapipe: Any, batch_size: int, drop_last: bool = False, wrapper_class: Any = DataChunk) -> None:
        assert batch_size > 0, "Batch size is required to be larger than 0!"
        self.datapipe, self.batch_size, self.drop_last, self.wrapper_class = datapipe, batch_size, drop_last, wrapper_class

    def __getitem__(self, index: int) -> Any:
        if not 0 <= index < len(self):
            raise IndexError(f"Index {index} is out of bound.")
        places = range(index * self.batch_size, min((index + 1) * self.batch_size, len(self.datapipe)))
        return self.wrapper_class([self.datapipe[i] for i in places])

    def __len__(self) -> int:
        count = len(self.datapipe)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


@functional_datapipe("concat")
class ConcaterMapDataPipe(MapDataPipe):
    """One behind the other."""

    def __init__(self, *datapipes: Any) -> None:
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        if not all(isinstance(pipe, MapDataPipe) for pipe in datapipes):
            raise TypeError("Expected all inputs to be `MapDataPipe`")
        self.datapipes: Sequence[Any] = datapipes

    def __getitem__(self, index: int) -> Any:
        offset = index
        for pipe in self.datapipes:
            if 0 <= offset < len(pipe):
                return pipe[offset]
            offset -= len(pipe)
        raise IndexError(f"Index {index} is out of range.")

    def __len__(self) -> int:
        return sum(len(pipe) for pipe in self.datapipes)


@functional_datapipe("zip")
class ZipperMapDataPipe(MapDataPipe):
    """Tuples of the elements in one place."""

    def __init__(self, *datapipes: Any) -> None:
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        if not all(isinstance(pipe, MapDataPipe) for pipe in datapipes):
            raise TypeError("Expected all inputs to be `MapDataPipe`")
        self.datapipes: Sequence[Any] = datapipes

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        found = []
        for pipe in self.datapipes:
            try:
                found.append(pipe[index])
            except IndexError as error:
                raise IndexError(f"Index {index} is out of range for one of the input MapDataPipes {pipe}.") from error
        return tuple(found)

    def __len__(self) -> int:
        return min(len(pipe) for pipe in self.datapipes)


@functional_datapipe("shuffle")
class _Shuffler(MapDataPipe):
    """The elements of the given places in an order that is drawn: a pipe to go through."""

    def __new__(cls, datapipe: Any, *, indices: Any = None) -> Any:
        return ShufflerIterDataPipe(datapipe, indices=indices)


class ShufflerIterDataPipe(_IterShuffler):
    """The elements of the given places of a pipe with places, in an order that is drawn."""

    def __init__(self, datapipe: Any, *, indices: Any = None) -> None:
        places = range(len(datapipe)) if indices is None else indices
        super().__init__(_Places(datapipe, list(places)), buffer_size=max(len(places), 1))


class _Places:
    """The elements of a pipe in some of its places."""

    _holds_pipes = True

    def __init__(self, datapipe: Any, indices: list[Any]) -> None:
        self.datapipe, self.indices = datapipe, indices

    def __iter__(self) -> Any:
        return (self.datapipe[i] for i in self.indices)

    def __len__(self) -> int:
        return len(self.indices)


Batcher, Concater, Mapper, SequenceWrapper = BatcherMapDataPipe, ConcaterMapDataPipe, MapperMapDataPipe, SequenceWrapperMapDataPipe
Zipper, Shuffler = ZipperMapDataPipe, ShufflerIterDataPipe
