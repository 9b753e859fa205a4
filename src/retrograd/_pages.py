"""HTML pages that stand alone: one file, nothing from the network. The style that all reports share, tables, and charts as SVG.

    page = Page("A run", [facts([("loss", "0.3")]), grid([line_chart(...), bar_chart(...)]), card("Notes", preformatted(text))])
    page.save("report.html")

In a notebook a page shows itself.
"""

from __future__ import annotations

import html
import math
import os
import re
from collections.abc import Sequence

from retrograd._files import write_text

Series = dict[str, Sequence[tuple[float, float]]]

COLOURS = ("#3b6fd4", "#d4593b", "#3f9b5c", "#8e5bc4", "#c99a1d", "#2a9aa5", "#b54484", "#7a7f87")
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 260, 56, 34, 14, 12
LETTER = 6.2  # how wide a letter of a chart is taken to be

STYLE = """
:root { --ink: #1d2530; --faint: #d9dee5; --back: #ffffff; --soft: #f4f6f9; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --faint: #3a424d; --back: #15191f; --soft: #1e242c; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back); max-width: 1340px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: 0; } h2 { font-size: 1.05rem; margin: 0 0 .4rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 520px), 1fr)); gap: 1.2rem; margin: 1.2rem 0; }
.card + .card { margin-top: 1.2rem; } .charts .card { margin-top: 0; }
.card { background: var(--soft); border-radius: 8px; padding: 1rem; overflow-x: auto; }
svg { width: 100%; height: auto; display: block; } svg text { fill: var(--ink); font: 11px system-ui, sans-serif; }
table { border-collapse: collapse; } td, th { padding: .15rem 1.2rem .15rem 0; vertical-align: top; text-align: left; }
th { font-weight: 600; border-bottom: 1px solid var(--faint); } .number { text-align: right; font-variant-numeric: tabular-nums; } .facts td:first-child { opacity: .7; }
pre { white-space: pre-wrap; font: 13px/1.45 ui-monospace, monospace; margin: 0; }
.legend { font-size: 12px; } .legend span { margin-right: 1rem; white-space: nowrap; } .legend i { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: .3rem; }
"""


def short(value: float) -> str:
    """A number for an axis."""
    if value == 0:
        return "0"
    if abs(value) >= 10_000 or abs(value) < 0.001:
        return f"{value:.0e}".replace("e+0", "e").replace("e-0", "e-")
    return f"{value:.4g}"


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers between two others."""
    step = 10 ** math.floor(math.log10((high - low) / count))
    step *= next(s for s in (1, 2, 5, 10) if (high - low) / (step * s) <= count)
    first = math.ceil(low / step)
    return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten between two logarithms, with steps between them where there are few."""
    powers = range(math.floor(low), math.ceil(high) + 1)
    inside = [math.log10(m) + p for p in powers for m in ((1, 2, 5) if high - low < 3 else (1,))]
    return [t for t in inside if low <= t <= high]


def line_chart(title: str, series: Series, across: str, up: str, logarithmic: bool = False) -> str:
    """Lines over one axis; `logarithmic` is for the other."""
    shown = {
        name: [(x, math.log10(y) if logarithmic else y) for x, y in points if math.isfinite(y) and (y > 0 or not logarithmic)]
        for name, points in series.items()
    }
    points = [p for line in shown.values() for p in line]
    if not points:
        return f'<div class="card"><h2>{escape(title)}</h2>nothing to show</div>'
    (x0, x1), (y0, y1) = ((min(v), max(v)) for v in zip(*points, strict=True))
    if not logarithmic:
        y0 = min(y0, 0.0)
    x1, y1 = (x1 if x1 > x0 else x0 + 1), (y1 if y1 > y0 else y0 + 1)
    y1 += 0.05 * (y1 - y0)

    def place(x: float, y: float) -> tuple[float, float]:
        return LEFT + (x - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - (y - y0) / (y1 - y0) * (HEIGHT - BOTTOM - TOP)

    parts = []
    for tick in log_ticks(y0, y1) if logarithmic else ticks(y0, y1):
        _, y = place(x0, tick)
        label = short(10**tick if logarithmic else tick)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="var(--faint)"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
    for tick in ticks(x0, x1, 7):
        x, _ = place(tick, y0)
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{short(tick)}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH) / 2:.0f}" y="{HEIGHT - 3}" text-anchor="middle">{escape(across)}</text>')
    parts.append(f'<text x="12" y="{HEIGHT / 2:.0f}" text-anchor="middle" transform="rotate(-90 12 {HEIGHT / 2:.0f})">{escape(up)}</text>')
    for i, line in enumerate(shown.values()):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*p) for p in line))
        parts.append(f'<polyline fill="none" stroke="{COLOURS[i % len(COLOURS)]}" stroke-width="1.5" points="{path}"/>')
    legend = "".join(f'<span><i style="background:{COLOURS[i % len(COLOURS)]}"></i>{escape(n)}</span>' for i, n in enumerate(shown))
    return (
        f'<div class="card"><h2>{escape(title)}</h2><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
        f'{"".join(parts)}</svg><div class="legend">{legend if len(shown) > 1 else ""}</div></div>'
    )


def bar_chart(title: str, rows: Sequence[tuple[str, float, str]]) -> str:
    """Bars across: a name, a length, and words after it."""
    longest = max((value for _, value, _ in rows), default=1.0) or 1.0
    names = LETTER * max((len(name) for name, _, _ in rows), default=0) + 8
    after = LETTER * max((len(words) for _, _, words in rows), default=0) + 8
    room = max(WIDTH - names - after, 60.0)
    height = 22
    parts = []
    for i, (name, value, words) in enumerate(rows):
        y, width = i * height, value / longest * room
        parts.append(f'<text x="{names - 6:.0f}" y="{y + 15}" text-anchor="end">{escape(name)}</text>')
        parts.append(f'<rect x="{names:.0f}" y="{y + 4}" width="{max(width, 1):.1f}" height="{height - 8}" rx="2" fill="{COLOURS[0]}"/>')
        parts.append(f'<text x="{names + width + 6:.1f}" y="{y + 15}">{escape(words)}</text>')
    drawing = f'<svg viewBox="0 0 {names + room + after:.0f} {max(1, len(rows)) * height}" role="img" aria-label="{escape(title)}">{"".join(parts)}</svg>'
    return card(title, drawing)


# -- pieces of a page ---------------------------------------------------------


def escape(text: object) -> str:
    """Text as it may stand anywhere in a page, also between quotes."""
    return html.escape(str(text))


def card(title: str, inside: str) -> str:
    """A box with a heading around HTML."""
    return f'<div class="card"><h2>{escape(title)}</h2>{inside}</div>'


def grid(cards: Sequence[str]) -> str:
    """Boxes side by side, as many as the window is wide."""
    return f'<div class="charts">\n{chr(10).join(cards)}\n</div>'


def preformatted(text: str) -> str:
    return f"<pre>{escape(text)}</pre>"


def facts(rows: Sequence[tuple[str, object]]) -> str:
    """Names and values, without a head."""
    return f'<table class="facts">{"".join(f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in rows)}</table>'


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Rows under a head; columns that hold numbers, by type or in their words, stand to the right."""
    right = [bool(rows) and all(_is_number(row[i]) for row in rows) for i in range(len(head))]

    def line(tag: str, cells: Sequence[object]) -> str:
        marks = (' class="number"' if r else "" for r in right)
        return "<tr>" + "".join(f"<{tag}{m}>{escape(c)}</{tag}>" for c, m in zip(cells, marks, strict=True)) + "</tr>"

    return f"<table><thead>{line('th', head)}</thead><tbody>{''.join(line('td', row) for row in rows)}</tbody></table>"


def _is_number(cell: object) -> bool:
    return isinstance(cell, (int, float)) or re.match(r"[-+]?\.?\d|-?$", str(cell)) is not None


# -- the page -----------------------------------------------------------------


def document(title: str, body: str, style: str = "") -> str:
    """The whole text of a page; `style` is added to the one that pages share."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}{style}</style></head>\n<body>\n{body}\n</body></html>\n'
    )


def framed(text: str, height: int) -> str:
    """A page inside another, as notebooks want it: neither's style reaches the other."""
    return f'<iframe srcdoc="{escape(text)}" style="width:100%;height:{height}px;border:0"></iframe>'


class Page:
    """A report: a title, then pieces of HTML one under the other."""

    height = 700  # in a notebook

    def __init__(self, title: str, pieces: Sequence[str]) -> None:
        self.title, self.pieces = title, list(pieces)

    def html(self) -> str:
        """The page as text."""
        return document(self.title, "\n".join([f"<h1>{escape(self.title)}</h1>", *self.pieces]))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file, whole or not at all."""
        write_text(path, self.html())

    def _repr_html_(self) -> str:
        return framed(self.html(), self.height)
