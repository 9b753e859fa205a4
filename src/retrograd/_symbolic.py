"""What PyTorch's compiler does to sizes that it does not know yet. Here sizes are numbers, and these functions are those of Python."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, TypeVar

from retrograd._overridable import overridable

__all__ = [
    "SymBool", "SymFloat", "SymInt", "sym_constrain_range", "sym_constrain_range_for_size", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sqrt",
    "sym_sum",
]  # fmt: skip

T = TypeVar("T")


class _Unknown:
    def __init__(self, node: Any = None) -> None:
        raise TypeError(f"{type(self).__name__}: sizes are always numbers, and there is nothing to make this of")


class SymInt(_Unknown):
    """An integer that is not known yet: for isinstance(), which is always False."""


class SymFloat(_Unknown):
    """A number that is not known yet: for isinstance(), which is always False."""


class SymBool(_Unknown):
    """A truth value that is not known yet: for isinstance(), which is always False."""


@overridable
def sym_int(a: Any) -> int:
    """int(a)"""
    return int(a)


@overridable
def sym_float(a: Any) -> float:
    """float(a)"""
    return float(a)


@overridable
def sym_max(a: Any, b: Any) -> Any:
    """The larger of two numbers, a float if one of them is."""
    larger = max(a, b)
    return float(larger) if isinstance(a, float) or isinstance(b, float) else larger


@overridable
def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two numbers, a float if one of them is."""
    smaller = min(a, b)
    return float(smaller) if isinstance(a, float) or isinstance(b, float) else smaller


@overridable
def sym_not(a: Any) -> bool:
    """not a"""
    return not a


@overridable
def sym_ite(b: bool, t: T, f: T) -> T:
    """t if b, else f."""
    assert isinstance(b, bool), f"expected SymBool or bool, got {type(b)}"
    assert type(t) is type(f), f"type mismatch: {type(t)} vs {type(f)}"
    return t if b else f


@overridable
def sym_sqrt(a: Any) -> float:
    """The square root of a number."""
    return math.sqrt(a)


@overridable
def sym_sum(args: Iterable[Any]) -> Any:
    """The sum of numbers."""
    return sum(args)


def sym_constrain_range(size: int, *, min: int | None = None, max: int | None = None) -> None:
    """Raises RuntimeError unless the number is in a range, both ends included."""
    low, high = -(2**63) if min is None else min, 2**63 - 1 if max is None else max
    if low > high:
        raise RuntimeError(f"Max must be greater than or equal to min. Got min={low} max={high}")
    if not low <= size <= high:
        raise RuntimeError(f"Invalid value range for {size} between [{low}, {high}].")


def sym_constrain_range_for_size(size: int, *, min: int | None = None, max: int | None = None) -> None:
    """Raises RuntimeError unless the size is in a range, from 0 on."""
    if max is not None and max <= 2:
        raise RuntimeError(f"Max value to constrain_range_for_size must be greater than 2. got: {max}")
    sym_constrain_range(size, min=0 if min is None else min, max=max)
