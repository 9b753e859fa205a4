"""Counts of instructions by function, as tables to look at: PyTorch gets them from Callgrind; Timer.collect_callgrind() here says that it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple


class FunctionCount(NamedTuple):
    count: int  # type: ignore[assignment]
    function: str


@dataclass(repr=False, eq=False, frozen=True)
class FunctionCounts:
    """Counts by function, most first, with the arithmetic of Counter."""

    _data: tuple[FunctionCount, ...]
    inclusive: bool
    truncate_rows: bool = True
    _linewidth: int | None = None

    def __iter__(self) -> Iterator[FunctionCount]:
        yield from self._data

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, item: Any) -> Any:
        found = self._data[item]
        return FunctionCounts(found, self.inclusive, truncate_rows=False) if isinstance(item, slice) else found

    def __repr__(self) -> str:
        width = max((len(str(count)) for count, _ in self), default=0)
        lines = [f"  {count:>{width}}  {function}" for count, function in self]
        if self.truncate_rows and len(lines) > 18:
            lines = [*lines[:9], "...".rjust(width + 2), *lines[-9:]]
        return "\n".join([f"{type(self).__name__} object at {id(self):#x}", *lines, "", f"Total: {self.sum()}"])

    def __add__(self, other: FunctionCounts) -> FunctionCounts:
        return self._merge(other, 1)

    def __sub__(self, other: FunctionCounts) -> FunctionCounts:
        return self._merge(other, -1)

    def __mul__(self, factor: float) -> FunctionCounts:
        return self._of({function: int(count * factor) for count, function in self})

    def transform(self, map_fn: Callable[[str], str]) -> FunctionCounts:
        """Functions by another name; those of one name are added up."""
        found: dict[str, int] = {}
        for count, function in self:
            found[map_fn(function)] = found.get(map_fn(function), 0) + count
        return self._of(found)

    def filter(self, filter_fn: Callable[[str], bool]) -> FunctionCounts:
        """The functions whose names fulfil a condition."""
        return FunctionCounts(tuple(each for each in self if filter_fn(each.function)), self.inclusive)

    def denoise(self) -> FunctionCounts:
        """Without what dictionaries cost the interpreter, which varies from run to run."""
        return self.filter(lambda name: "dictobject.c:lookdict_unicode" not in name)

    def sum(self) -> int:
        return sum(count for count, _ in self)

    def _merge(self, other: FunctionCounts, sign: int) -> FunctionCounts:
        if self.inclusive != other.inclusive:
            raise AssertionError("Cannot merge inclusive and exclusive counts.")
        found = {function: count for count, function in self}
        for count, function in other:
            found[function] = found.get(function, 0) + sign * count
        return self._of(found)

    def _of(self, counts: dict[str, int]) -> FunctionCounts:
        rows = sorted((FunctionCount(count, function) for function, count in counts.items() if count), reverse=True)
        return FunctionCounts(tuple(rows), self.inclusive)


class CopyIfCallgrind:
    """A global that is copied into the process that Callgrind watches: here it is its value."""

    def __init__(self, value: Any, *, setup: str | None = None) -> None:
        self.value, self.setup = value, setup

    @staticmethod
    def unwrap_all(values: dict[str, Any]) -> dict[str, Any]:
        """The values themselves."""
        return {name: value.value if isinstance(value, CopyIfCallgrind) else value for name, value in values.items()}
