"""Writes docs/compat.md from the results."""

from __future__ import annotations

import pathlib
from typing import Any

from . import results
from .libraries import LIBRARIES
from .programs import PROGRAMS

PAGE = pathlib.Path(__file__).parents[2] / "docs/compat.md"

_OPENING = """\
# Programs and libraries

What was run unchanged on PyTorch and on retrograd, from the same seed, on one thread, and how the two agree. A program is stopped after so many steps; its
losses are the values of the tensors that `backward` was called on, compared step by step. Where a repository is run by its own tests, every test that passes
on PyTorch has to pass. The last column is how many times as fast as PyTorch the steps, or the tests, were, or the whole
run with its imports where there are not two steps, in processor time of one run: small models and small data, so that mostly the engine is measured. Only large differences mean something.

Nothing of the programs is in this repository: `tools/compat` knows where they come from, makes small data, and holds stand-ins for what they import beside
PyTorch (a few classes of torchvision, a cart-pole), and a short program of ours for each library. `python -m tools.compat --help` says how this page is made anew.
"""

_PROGRAMS = """
## Programs

By `retrograd run`, at the revision named; where a constant in the file was too large for a short run, its number was made smaller.
"""

_LIBRARIES = """
## Libraries from PyPI

In an environment without PyTorch, beside `retrograd shim install`.
"""


def _speed(row: dict[str, Any]) -> str:
    theirs, ours = row["seconds"]
    return f"{theirs / ours:.1f}x" if row["ok"] and ours > 0 and theirs > 0.005 else ""


def _table(first: str, titles: list[str], rows: dict[str, dict[str, Any]]) -> str:
    lines = [f"| {first} | version | result | speed |", "|---|---|---|---|"]
    for title in sorted(titles, key=str.lower):
        row = rows.get(title)
        if row is None:
            lines.append(f"| {title} | | not compared yet | |")
            continue
        said = row["said"].replace("|", "\\|").replace("\n", " ")
        lines.append(f"| {title} | {row['version']} | {said if row['ok'] else 'differs: ' + said} | {_speed(row)} |")
    return "\n".join(lines) + "\n"


def text() -> str:
    rows = results.read()
    programs = _table("program", [program.title for program in PROGRAMS], rows["programs"])
    libraries = _table("library", [library.title for library in LIBRARIES], rows["libraries"])
    return f"{_OPENING}{_PROGRAMS}\n{programs}{_LIBRARIES}\n{libraries}"


def write() -> None:
    PAGE.write_text(text())
