"""What a tracer notes of a node beside the call, while it is told to."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterator
from typing import Any

__all__ = [
    "annotate",
    "format_stack",
    "get_current_meta",
    "has_preserved_node_meta",
    "preserve_node_meta",
    "set_current_meta",
    "set_stack_trace",
]

_meta: dict[str, Any] = {}
_preserving = False


@contextlib.contextmanager
def preserve_node_meta(enable: bool = True) -> Iterator[None]:
    """A block whose notes reach the nodes that are made in it."""
    global _preserving, _meta
    before, notes = _preserving, _meta
    _preserving = enable
    _meta = dict(_meta) if enable else _meta
    try:
        yield
    finally:
        _preserving, _meta = before, notes


def has_preserved_node_meta() -> bool:
    """Whether such a block is active."""
    return _preserving


def get_current_meta() -> dict[str, Any]:
    """The notes."""
    return _meta


@contextlib.contextmanager
def set_current_meta(node: Any, pass_name: str = "") -> Iterator[None]:
    """The notes of a node, in a block."""
    global _meta
    before = _meta
    if _preserving and node.meta:
        _meta = node.meta.copy()
    try:
        yield
    finally:
        _meta = before


@contextlib.contextmanager
def annotate(annotation_dict: dict[str, Any]) -> Iterator[None]:
    """More notes of the program's own, in a block."""
    before = _meta.get("custom")
    _meta["custom"] = {**(before or {}), **annotation_dict}
    try:
        yield
    finally:
        if before is None:
            del _meta["custom"]
        else:
            _meta["custom"] = before


def set_stack_trace(stack: list[str]) -> None:
    """Where a node comes from, as lines of a traceback."""
    if _preserving and stack:
        _meta["stack_trace"] = "".join(stack)


def format_stack() -> list[str]:
    """The lines of the traceback of the node, or of the caller."""
    return [_meta["stack_trace"]] if _preserving and "stack_trace" in _meta else traceback.format_list(traceback.extract_stack()[:-1])
