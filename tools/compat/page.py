"""Writes docs/compat.md from the results."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any

from . import results
from .libraries import LIBRARIES, Library
from .programs import PROGRAMS, Program

PAGE = pathlib.Path(__file__).parents[2] / "docs/compat.md"

_OPENING = """\
# Programs and libraries

What was run unchanged on PyTorch and on retrograd, from the same seed, on one thread, and how the two agree. A program is stopped after so many steps; its
losses are the values of the tensors that `backward` was called on, compared step by step. Where a repository is run by its own tests, every test that passes
on PyTorch has to pass. The last columns are how many times as fast as PyTorch the steps, or the tests, were, or the whole
run with its imports where there are not two steps, in processor time of one run: small models and small data, so that mostly the engine is measured. Only large differences mean something.

The [doctor](doctor.md) watches, as it does by default, and says nothing, but for what is noted. It looks closely at the first steps of a loop, and nearly all that is run here is first steps:
the first of the two speeds is with it, the second with RETROGRAD_DOCTOR=0, which is what a long run comes near. The losses are the same bits.

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


def _speed(row: dict[str, Any], ours: float) -> str:
    theirs = row["seconds"][0]
    return f"{theirs / ours:.1f}x" if row["ok"] and ours > 0 and theirs > 0.005 else ""


def _table(first: str, things: Sequence[Program | Library], rows: dict[str, dict[str, Any]]) -> str:
    lines = [f"| {first} | version | result | speed | doctor off |", "|---|---|---|---|---|"]
    for thing in sorted(things, key=lambda thing: thing.title.lower()):
        row = rows.get(thing.title)
        if row is None:
            lines.append(f"| {thing.title} | | not compared yet | | |")
            continue
        told = [f"{code}: {why}" for code, why in thing.diagnoses.items()] + row["diagnoses"]
        said = "; ".join([row["said"], *told]).replace("|", "\\|").replace("\n", " ")
        speeds = " | ".join(_speed(row, seconds) for seconds in row["seconds"][1:])
        lines.append(f"| {thing.title} | {row['version']} | {said if row['ok'] else 'differs: ' + said} | {speeds} |")
    return "\n".join(lines) + "\n"


def text() -> str:
    rows = results.read()
    programs = _table("program", PROGRAMS, rows["programs"])
    libraries = _table("library", LIBRARIES, rows["libraries"])
    return f"{_OPENING}{_PROGRAMS}\n{programs}{_LIBRARIES}\n{libraries}"


def write() -> None:
    PAGE.write_text(text())
