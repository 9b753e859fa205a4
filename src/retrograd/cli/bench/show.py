"""What was measured, as a table in the terminal, as CSV and JSON, and as plots."""

from __future__ import annotations

import csv
import importlib
import importlib.util
import io
import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .measure import Difference, Row, compare


@dataclass
class Result:
    """One program: what it took, what it is compared with, and the same on another engine."""

    labels: dict[str, Any]
    row: Row
    base: Row | None = None
    other: Row | None = None
    other_base: Row | None = None

    @property
    def sides(self) -> list[tuple[Row, Row | None]]:
        """What was measured on each engine, and what it is compared with there."""
        return [(row, base) for row, base in ((self.row, self.base), (self.other, self.other_base)) if row is not None]

    @property
    def difference(self) -> Difference | None:
        return None if self.base is None or self.base is self.row else compare(self.base, self.row)

    @property
    def against(self) -> Difference | None:
        return None if self.other is None else compare(self.row, self.other)


def time_words(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}" if seconds < 100 * scale else f"{seconds / scale:.0f} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def memory_words(count: int) -> str:
    return f"{count / 1e6:.2f} MB" if count >= 1e4 else f"{count} B"


def percent(part: float, whole: float) -> str:
    """How much less, or more, a part is."""
    return "" if not whole else f"{part / whole - 1:+.0%}"


def cells(result: Result) -> dict[str, str]:
    row, base, difference = result.row, result.base, result.difference
    batch = row.spec.get("batch")
    found = {name: str(value) for name, value in result.labels.items()}
    found |= {"time": time_words(row.seconds), "spread": f"{row.spread:.0%}"}
    if batch:
        found["samples/s"] = f"{batch / row.seconds:,.0f}"
    found["peak memory"] = memory_words(row.peak)
    if row.spec["kind"] == "modes":
        found["kept"] = memory_words(row.kept)
    if base is not None:
        found["time against it"] = "" if difference is None else f"{difference.ratio - 1:+.0%}"
        found["memory against it"] = "" if difference is None else percent(row.peak, base.peak)
        found["beyond noise"] = "" if difference is None else "yes" if difference.real else "no"
    if result.other is not None:
        against = result.against
        assert against is not None
        found |= {"PyTorch": time_words(result.other.seconds), "PyTorch peak": memory_words(result.other.peak)}
        found["times as fast"] = f"{against.ratio:.2f}" + ("" if against.real else " (noise)")
    return found


def table(results: Sequence[Result], plain: bool | None = None) -> None:
    """Prints the table: by rich on a terminal where that is installed, as aligned text elsewhere."""
    rows = [cells(result) for result in results]
    head = list(dict.fromkeys(name for row in rows for name in row))
    texts = [[row.get(name, "") for name in head] for row in rows]
    words = len(results[0].labels) if results else 1
    if plain is None:
        plain = not sys.stdout.isatty() or importlib.util.find_spec("rich") is None
    if not plain:
        shown = importlib.import_module("rich.table").Table()
        for i, name in enumerate(head):
            shown.add_column(name, justify="left" if i < words else "right")
        for text in texts:
            shown.add_row(*text)
        importlib.import_module("rich.console").Console().print(shown)
        return
    widths = [max(len(name), *(len(text[i]) for text in texts)) if texts else len(name) for i, name in enumerate(head)]
    for text in [head, ["-" * w for w in widths], *texts]:
        aligned = [t.ljust(w) if i < words else t.rjust(w) for i, (t, w) in enumerate(zip(text, widths, strict=True))]
        print("  ".join(aligned).rstrip())


# -- files --------------------------------------------------------------------


def records(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Plain numbers, a record for each program on each engine."""
    found = []
    for result in results:
        for row, base in result.sides:
            ours = row is result.row
            difference = None if base is None or base is row else compare(base, row)
            batch = row.spec.get("batch")
            record = {"engine": row.engine, **result.labels, "seconds": row.seconds, "spread": row.spread, "rounds": len(row.samples)}
            record |= {"samples_per_second": batch / row.seconds if batch else None, "peak_bytes": row.peak, "kept_bytes": row.kept}
            record["memory_ratio"] = row.peak / base.peak if base is not None and base.peak else None
            for name, value in (("ratio", difference), ("against", result.against if not ours else None)):
                record[f"time_{name}"] = None if value is None else value.ratio
                record[f"time_{name}_low"] = None if value is None else value.low
                record[f"time_{name}_high"] = None if value is None else value.high
            found.append(record)
    return found


def csv_text(results: Sequence[Result]) -> str:
    rows = records(results)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(name for row in rows for name in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def json_text(results: Sequence[Result], facts: dict[str, Any]) -> str:
    rows = records(results)
    samples = [row.samples for result in results for row, _ in result.sides]
    return json.dumps({**facts, "rows": [{**row, "samples": s} for row, s in zip(rows, samples, strict=True)]}, indent=1) + "\n"


# -- plots --------------------------------------------------------------------


def plots(results: Sequence[Result]) -> dict[str, bytes]:
    """Pictures by file name: savings against batch size and depth, memory against time, or bars."""
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("Agg")
    pyplot = importlib.import_module("matplotlib.pyplot")
    kind = results[0].row.spec["kind"]
    made = {}
    if kind == "modes":
        for name in ("batch", "depth"):
            if name == "batch" or len({r.row.spec.get("depth") for r in results}) > 1:
                made[f"saving-by-{name}.png"] = savings(pyplot, results, name)
    elif kind == "checkpoint":
        made["checkpoint.png"] = trade(pyplot, results)
    else:
        made[f"{kind}.png"] = bars(pyplot, results)
    return made


def picture(pyplot: Any, figure: Any) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=120, bbox_inches="tight")
    pyplot.close(figure)
    return out.getvalue()


def savings(pyplot: Any, results: Sequence[Result], across: str) -> bytes:
    """Time and memory that a mode saves: a line for each model and mode, in eval(). Bars are what chance leaves of a time."""
    figure, axes = pyplot.subplots(1, 2, figsize=(12, 4.5))
    lines: dict[tuple[str, str], dict[int, list[tuple[float, float, float, float]]]] = {}
    for result in results:
        spec, difference = result.row.spec, result.difference
        if difference is None or result.base is None or not spec["eval"]:
            continue
        points = lines.setdefault((spec["model"], spec["mode"]), {}).setdefault(spec.get(across) or 0, [])
        points.append((difference.ratio, difference.low, difference.high, result.row.peak / max(result.base.peak, 1)))
    for (model, mode), line in lines.items():
        at = sorted(line)
        ratio, low, high, memory = (
            [100 * (1 - statistics.fmean(values)) for values in column]
            for column in zip(*(zip(*line[x], strict=True) for x in at), strict=True)
        )
        style = {
            "marker": "o",
            "linestyle": "--" if mode == "inference_mode" else "-",
            "markersize": 4 if mode == "inference_mode" else 7,
            "label": f"{model}, {mode}",
        }
        around = [[r - h for r, h in zip(ratio, high, strict=True)], [b - r for r, b in zip(ratio, low, strict=True)]]
        axes[0].errorbar(at, ratio, yerr=around, capsize=3, **style)
        axes[1].plot(at, memory, **style)
    ticks = sorted({x for line in lines.values() for x in line})
    for axis, title in zip(axes, ("time", "peak memory"), strict=True):
        axis.axhline(0, color="0.6", linewidth=0.8)
        axis.set(xlabel="batch size" if across == "batch" else "depth", ylabel="saved, % of the default mode", title=title)
        if across == "batch":
            axis.set_xscale("log", base=2)
        axis.set_xticks(ticks, list(map(str, ticks)))
    axes[1].legend(fontsize=8)
    return picture(pyplot, figure)


def trade(pyplot: Any, results: Sequence[Result]) -> bytes:
    """Peak memory against added time, a point for each number of checkpointed blocks."""
    figure, axis = pyplot.subplots(figsize=(7, 4.5))
    curves: dict[str, list[tuple[float, float, str]]] = {}
    for result in results:
        if result.base is None:
            continue
        spec, ratio = result.row.spec, 1.0 if result.difference is None else result.difference.ratio
        point = (100 * (ratio - 1), 100 * result.row.peak / max(result.base.peak, 1), str(result.labels["checkpointed"]))
        curves.setdefault(f"{spec['model']}, batch {spec['batch']}", []).append(point)
    for name, points in curves.items():
        axis.plot([p[0] for p in points], [p[1] for p in points], marker="o", label=name)
        for x, y, text in points:
            axis.annotate(text, (x, y), textcoords="offset points", xytext=(5, 5), fontsize=8)
    axis.margins(x=0.12, y=0.1)
    axis.set(xlabel="added time, %", ylabel="peak memory, % of the step without", title="checkpointed blocks")
    axis.set_ylim(bottom=0)
    axis.legend(fontsize=8)
    return picture(pyplot, figure)


def bars(pyplot: Any, results: Sequence[Result]) -> bytes:
    names = [" ".join(map(str, r.labels.values())) for r in results]
    figure, axis = pyplot.subplots(figsize=(8, 1 + 0.28 * len(results)))
    rows = [("retrograd", [r.row for r in results])]
    if all(r.other is not None for r in results):
        rows.append(("PyTorch", [r.other for r in results if r.other is not None]))
    height = 0.8 / len(rows)
    for i, (name, measured) in enumerate(rows):
        axis.barh([j + i * height for j in range(len(names))], [1e3 * row.seconds for row in measured], height=height, label=name)
    axis.set_yticks([j + 0.4 - height / 2 for j in range(len(names))], names, fontsize=8)
    axis.invert_yaxis()
    axis.set(xlabel="milliseconds", xscale="log")
    axis.legend(fontsize=8)
    return picture(pyplot, figure)
