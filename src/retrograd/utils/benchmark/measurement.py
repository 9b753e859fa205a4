"""What was timed, and how long it took: `Measurement`."""

from __future__ import annotations

import dataclasses
import math
import statistics
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

_UNITS = (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0))
_WORDS = {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}
_MEANT_TO_REPEAT = 0.1  # a spread beyond this part of the median is worth a warning
_FEW = 5


def select_unit(t: float) -> tuple[str, float]:
    """The unit that a time is best shown in, and how many seconds it has."""
    return next(((name, size) for name, size in reversed(_UNITS) if t >= size), _UNITS[0])


def unit_to_english(u: str) -> str:
    """A unit in words."""
    return _WORDS[u]


def trim_sigfig(x: float, n: int) -> float:
    """A number with `n` digits that mean something."""
    if x == 0 or not math.isfinite(x):
        return x
    scale = 10 ** (n - math.ceil(math.log10(abs(x))))
    return round(x * scale) / scale


def ordered_unique(elements: Iterable[Any]) -> list[Any]:
    """Without repetitions, in order."""
    return list(dict.fromkeys(elements))


@dataclasses.dataclass(init=True, repr=False, eq=True, frozen=True)
class TaskSpec:
    """What is timed."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, or the statement."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        if "\n" not in self.stmt:
            return self.stmt + (f": {self.sub_label}" if self.sub_label else "")
        return "stmt:" + (f" ({self.sub_label})" if self.sub_label else "") + "\n" + textwrap.indent(self.stmt, "  ")

    def setup_str(self) -> str:
        """The setup, as it is shown."""
        return (
            ""
            if self.setup in ("pass", "")
            else f"setup:\n{textwrap.indent(self.setup, '  ')}"
            if "\n" in self.setup
            else f"setup: {self.setup}"
        )

    def summarize(self) -> str:
        """All of it."""
        lines = [self.title, self.description or "", self.setup_str()]
        return "\n".join(line for line in lines if line)


@dataclasses.dataclass(init=True, repr=False)
class Measurement:
    """Times of runs of one task: `raw_times` of `number_per_run` executions each."""

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = None

    def __post_init__(self) -> None:
        self._sorted = tuple(sorted(t / self.number_per_run for t in self.raw_times))

    def __getattr__(self, name: str) -> Any:
        if name in {f.name for f in dataclasses.fields(TaskSpec)} | {"title", "summarize", "setup_str"}:
            return getattr(self.task_spec, name)
        raise AttributeError(f"'Measurement' object has no attribute '{name}'")

    def _some(self) -> tuple[float, ...]:
        if not self._sorted:
            raise ValueError("Measurement was created with no times")
        return self._sorted

    @property
    def times(self) -> list[float]:
        """Seconds per execution, of each run."""
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def median(self) -> float:
        """The median of the times."""
        return statistics.median(self._some())

    @property
    def mean(self) -> float:
        """The mean of the times."""
        return statistics.fmean(self._some())

    def _quantile(self, q: float) -> float:
        t = self._some()
        at = q * (len(t) - 1)
        low = int(at)
        high = min(low + 1, len(t) - 1)
        return t[low] + (t[high] - t[low]) * (at - low)

    @property
    def iqr(self) -> float:
        """The middle half of the times is as wide as this."""
        return self._quantile(0.75) - self._quantile(0.25)

    @property
    def significant_figures(self) -> int:
        """How many digits of the median mean something, by the spread of the middle half."""
        n = len(self._some())
        if n < 2:
            return 1
        spread = 1.645 * math.sqrt(math.pi / 2) * (self.iqr / 1.349) / math.sqrt(n)
        relative = spread / self.median if self.median else 1.0
        return max(1, min(4, -math.floor(math.log10(relative)))) if relative > 0 else 4

    @property
    def has_warnings(self) -> bool:
        """Whether the times differ too much to be trusted."""
        return self.iqr / self.median > _MEANT_TO_REPEAT if self.median else False

    def meets_confidence(self, threshold: float = 0.1) -> bool:
        """Whether the middle half is narrower than this part of the median."""
        return self.median > 0 and self.iqr / self.median < threshold

    @property
    def as_row_name(self) -> str:
        """What it is called in a table."""
        return self.sub_label or self.stmt or "[Unknown]"

    def __repr__(self) -> str:
        unit, size = select_unit(self.median)
        n = len(self._sorted)
        shown = f"{trim_sigfig(self.median / size, max(3, self.significant_figures)):.2f} {unit}"
        lines = [super().__repr__().partition(" object")[0] + f" object at {hex(id(self))}>", self.task_spec.summarize()]
        if n > 1:
            lines.append(f"  Median: {shown}")
            if n >= _FEW - 1:
                low, high = self._quantile(0.25) / size, self._quantile(0.75) / size
                lines.append(f"  IQR:    {self.iqr / size:.2f} {unit} ({low:.2f} to {high:.2f})")
        else:
            lines.append(f"  {shown}")
        threads = f"{self.num_threads} thread{'s' if self.num_threads > 1 else ''}"
        lines.append(
            f"  {n} measurement{'s' if n > 1 else ''}, {self.number_per_run} runs {'per measurement,' if n > 1 else ','} {threads}"
        )
        if n >= _FEW and self.has_warnings:
            lines.append(f"  WARNING: Interquartile range is {self.iqr / self.median * 100:.1f}% of the median measurement.")
        return "\n".join(lines)

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """The runs of equal tasks in one measurement each."""
        groups: dict[TaskSpec, list[Measurement]] = {}
        for m in measurements:
            groups.setdefault(m.task_spec, []).append(m)

        def one(task: TaskSpec, group: list[Measurement]) -> Measurement:
            return Measurement(1, [t for m in group for t in m.times], task)

        return [one(task, group) for task, group in groups.items()]

    def __iter__(self) -> Iterator[float]:
        return iter(self.times)
