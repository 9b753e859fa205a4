"""Compare: measurements in a table, a row for each task and a column for each description."""

from __future__ import annotations

import enum
from collections.abc import Sequence

from retrograd.utils.benchmark.measurement import Measurement, ordered_unique, select_unit, trim_sigfig, unit_to_english


class Colorize(enum.Enum):
    """What colours compare."""

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


class Compare:
    """A table of measurements.

    Args:
        results: what `Timer` gave; those of equal tasks count as one.
    """

    def __init__(self, results: Sequence[Measurement]) -> None:
        self._results: list[Measurement] = []
        self.extend_results(results)
        self._trim = False
        self._colors = Colorize.NONE

    def __str__(self) -> str:
        return "\n".join(self._render())

    def extend_results(self, results: Sequence[Measurement]) -> None:
        """Adds measurements."""
        for r in results:
            if not isinstance(r, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(r)} instead.")
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Shows no more digits than mean something."""
        self._trim = True

    def colorize(self, rowwise: bool = False) -> None:
        """Marks the fastest of a column, or of a row."""
        self._colors = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self) -> None:
        """Times that differ much have their spread beside them anyway."""

    def print(self) -> None:
        """Shows the table."""
        print(str(self))

    def _render(self) -> list[str]:
        merged = Measurement.merge(self._results)
        lines: list[str] = []
        for label in ordered_unique(m.label for m in merged):
            group = [m for m in merged if m.label == label]
            unit, size = select_unit(min(m.median for m in group))
            columns = ordered_unique(m.description or "" for m in group)
            lines.append(f"[{'-' * 10} {label or group[0].stmt} {'-' * 10}]")
            for threads in ordered_unique(m.num_threads for m in group):
                rows = ordered_unique(m.as_row_name for m in group if m.num_threads == threads)
                found = {(m.as_row_name, m.description or ""): m for m in group if m.num_threads == threads}
                texts = {key: self._text(m, size) for key, m in found.items()}
                self._mark(found, texts)
                first = max(map(len, rows), default=0)
                widths = [max(len(c), *(len(texts.get((r, c), "")) for r in rows)) for c in columns]
                head = "  |  ".join(f"{c:^{w}}" for c, w in zip(columns, widths, strict=True))
                lines += [f"{'':{first + 6}}|  {head}", f"{threads} threads: {'-' * (first + len(head))}"]
                lines += [
                    f"      {r:<{first}}  |  " + "  |  ".join(f"{texts.get((r, c), ''):>{w}}" for c, w in zip(columns, widths, strict=True))
                    for r in rows
                ]
            lines += ["", f"Times are in {unit_to_english(unit)}s ({unit})."]
        return lines

    def _text(self, m: Measurement, size: float) -> str:
        value = m.median / size
        return f"{trim_sigfig(value, m.significant_figures) if self._trim else value:.1f}"

    def _mark(self, found: dict[tuple[str, str], Measurement], texts: dict[tuple[str, str], str]) -> None:
        if self._colors is Colorize.NONE:
            return
        side = 0 if self._colors is Colorize.ROWWISE else 1
        for key, m in found.items():
            if m.median == min(other.median for place, other in found.items() if place[side] == key[side]):
                texts[key] += " *"
