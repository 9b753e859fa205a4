"""The pipes that a data pipe is made of."""

from __future__ import annotations

from typing import Any

from retrograd.utils.data.datapipes.datapipe import sources

__all__ = ["traverse_dps"]


def traverse_dps(datapipe: Any) -> dict[int, tuple[Any, dict[int, Any]]]:
    """{id of the pipe: (the pipe, the same of the pipes it is made of)}"""
    inner: dict[int, tuple[Any, dict[int, Any]]] = {}
    below: set[int] = set()
    for each in sources(datapipe)[1:]:
        if id(each) not in below:  # else it is part of another
            inner |= traverse_dps(each)
            below |= {id(part) for part in sources(each)}
    return {id(datapipe): (datapipe, inner)}
