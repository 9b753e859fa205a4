"""Cells of a notebook: what their lines are called, and how a diagnosis shows itself below one."""

from __future__ import annotations

import sys
from typing import Any


def _shell() -> Any:
    """IPython's shell, where it runs."""
    module = sys.modules.get("IPython")
    return module.get_ipython() if module is not None else None


def line_text(file: str, line: int) -> str:
    """A line as a traceback in a notebook names it: those of cells by the number of the cell, not by a file that nobody sees."""
    names = getattr(getattr(_shell(), "compile", None), "format_code_name", None)
    label = names(file) if names is not None else None
    return f"{' '.join(label)}, line {line}" if label else f"{file}:{line}"


def in_kernel() -> bool:
    """Whether there are cells with outputs below them."""
    return getattr(_shell(), "kernel", None) is not None


def show_finding(text: str) -> None:
    """A diagnosis below the running cell, as one block."""
    from html import escape

    from IPython.display import display  # type: ignore[import-not-found,unused-ignore]

    what, _, more = text.partition("\n")
    code, _, what = what.partition("] ")
    block = (
        '<div style="border-left:4px solid #d9822b;background:rgba(217,130,43,.1);padding:.5em .8em;margin:.4em 0">'
        f"<b>{escape(code.removeprefix('['))}</b> {escape(what)}"
        f'<pre style="margin:.4em 0 0;white-space:pre-wrap;background:none">{escape(more)}</pre></div>'
    )
    display({"text/plain": text, "text/html": block}, raw=True)
