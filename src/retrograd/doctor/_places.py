"""Places of the user's program: where something was called, what stands there, and what can be read from the source around it."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import os
from typing import Any, NamedTuple

from retrograd import _C
from retrograd._cells import line_text


class Place(NamedTuple):
    """A line of the user's program."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        if "ipykernel_" in self.file:
            return line_text(self.file, self.line)
        return f"{self.shown_file}:{self.line}"

    @property
    def shown_file(self) -> str:
        """The path as it is shown: relative where that is shorter."""
        if self.file.startswith("<"):
            return self.file
        try:
            relative = os.path.relpath(self.file)
        except (ValueError, OSError):  # another drive, or a working directory that is gone
            return self.file
        return relative if len(relative) < len(self.file) and not relative.startswith("..") else self.file

    @property
    def text(self) -> str:
        """The source of the line, without its indentation; empty where it cannot be read."""
        return linecache.getline(self.file, self.line).strip()

    def quoted(self) -> str:
        """The place with its source, as messages show it."""
        return f"{self} ({self.text})" if self.text else str(self)


_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def is_package_file(file: str) -> bool:
    return file.startswith((_PACKAGE, "<frozen "))


def is_library_file(file: str) -> bool:
    """A file of an installed package or of the standard library, as csrc/python/interpreter.cpp knows them."""
    return "/site-packages/" in file or "/dist-packages/" in file or file.startswith(_LIBRARY)


def here() -> Place | None:
    """The innermost line of the user's program that is running."""
    site = _C._user_site()
    return None if site is None else Place(*site)


def of_node(node: Any) -> Place | None:
    """The line whose op made a node of a graph."""
    site = node._site
    return None if site is None else Place(site[0], site[1], "")


def of_leaf(tensor: Any) -> Place | None:
    """The line that made a tensor require grad: where a parameter, or the layer it is in, was made."""
    made = [at for kind, _, _, at in tensor._cut if kind == "made" and at is not None]
    return Place(*made[-1][:3]) if made else None


def end_of_backward(cls: Any) -> str | None:
    """The last line of the backward of a Function, as a message names it."""
    place = of_backward(cls)
    return None if place is None else line_text(place.file, place.line)


def of_backward(cls: Any) -> Place | None:
    """The last line of the backward of a Function."""
    from retrograd.autograd import Function

    function = cls.vjp if cls.vjp is not Function.vjp else cls.backward
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return None
    lines = [line for _, _, line in code.co_lines() if line is not None]
    return Place(code.co_filename, max(lines), code.co_qualname) if lines else None


@functools.lru_cache(maxsize=64)
def tree_of(file: str) -> ast.Module | None:
    """The syntax tree of a file of the user's, or None where there is no source."""
    source = "".join(linecache.getlines(file))
    if not source:
        return None
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):  # not Python as this interpreter knows it, such as a cell with magics
        return None


@functools.lru_cache(maxsize=256)
def statement_at(place: Place) -> ast.stmt | None:
    """The innermost statement that covers a line."""
    tree = tree_of(place.file)
    found: ast.stmt | None = None
    for node in ast.walk(tree) if tree else ():
        if not isinstance(node, ast.stmt) or not node.lineno <= place.line <= (node.end_lineno or node.lineno):
            continue
        if found is None or (node.end_lineno or 0) - node.lineno <= (found.end_lineno or 0) - found.lineno:
            found = node
    return found


@functools.lru_cache(maxsize=256)
def function_around(place: Place) -> ast.AST | None:
    """The innermost function definition that covers a line, or the module."""
    tree = tree_of(place.file)
    found: ast.AST | None = tree
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.lineno <= place.line <= (node.end_lineno or node.lineno):
            found = node  # later ones are deeper
    return found


def is_before_the_loop_of(place: Place, later: Place) -> bool:
    """Whether a line of the same function is before the outermost loop around a later one."""
    function = function_around(later)
    if place.file != later.file or function is None or function_around(place) is not function:
        return False
    loops = [n for n in ast.walk(function) if isinstance(n, ast.For | ast.While) and n.lineno <= later.line <= (n.end_lineno or n.lineno)]
    return bool(loops) and place.line < loops[0].lineno
