"""Versions that compare as versions, also with strings and tuples."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

__all__ = ["TorchVersion"]

# PEP 440, without the epochs that nobody uses.
_VERSION = re.compile(
    r"\s*v?(?P<release>\d+(?:\.\d+)*)(?:[-_.]?(?P<pre>a|b|c|rc|alpha|beta|pre|preview)[-_.]?(?P<pre_number>\d*))?"
    r"(?P<post>(?:[-_.]?(?:post|rev|r)[-_.]?|-)(?P<post_number>\d*))?(?P<dev>[-_.]?dev[-_.]?(?P<dev_number>\d*))?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*",
    re.IGNORECASE,
)
_PRE = {"a": 0, "alpha": 0, "b": 1, "beta": 1, "c": 2, "rc": 2, "pre": 2, "preview": 2}
_FINAL = 3


def _key(text: str) -> tuple[Any, ...] | None:
    """What versions are ordered by; None for a text that is none."""
    found = _VERSION.fullmatch(text)
    if found is None:
        return None
    release = [int(part) for part in found["release"].split(".")]
    while release and release[-1] == 0:
        release.pop()
    if found["pre"]:
        stage = (_PRE[found["pre"].lower()], int(found["pre_number"] or 0))
    else:  # 1.0.dev1 comes before 1.0a1
        stage = (-1 if found["dev"] and not found["post"] else _FINAL, 0)
    post = int(found["post_number"] or 0) if found["post"] else -1
    dev = (0, int(found["dev_number"] or 0)) if found["dev"] else (1, 0)
    local = [(1, int(part), "") if part.isdigit() else (0, 0, part.lower()) for part in re.split(r"[-_.]", found["local"] or "") if part]
    return release, stage, post, dev, local


def _text(other: Any) -> str | None:
    if isinstance(other, str):
        return other
    return ".".join(str(item) for item in other) if isinstance(other, Iterable) else None


class TorchVersion(str):
    """A string, as versions have always been, that orders 2.10 behind 2.9: `torch.__version__ > "2.9"`, `>= (2, 9)`.

    What is no version is compared as text.
    """

    def _compared(self, other: Any, operator: str) -> Any:
        text = _text(other)
        if text is None:
            return NotImplemented
        mine, its = _key(self), _key(text)
        if mine is None or its is None:
            return getattr(str, operator)(self, other)
        return getattr(mine, operator)(its)

    def __lt__(self, other: Any) -> bool:
        return self._compared(other, "__lt__")

    def __le__(self, other: Any) -> bool:
        return self._compared(other, "__le__")

    def __gt__(self, other: Any) -> bool:
        return self._compared(other, "__gt__")

    def __ge__(self, other: Any) -> bool:
        return self._compared(other, "__ge__")

    def __eq__(self, other: object) -> bool:
        return self._compared(other, "__eq__")

    def __ne__(self, other: object) -> bool:
        return self._compared(other, "__ne__")

    __hash__ = str.__hash__
