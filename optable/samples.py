"""Inputs for the table: pure data, so that the generator, the tests and the benchmarks can read them without an engine.

`S(T(3, 4), dim=1)` is one call: positional and keyword arguments in which T, I and B stand for tensors. The tests make them for either
engine from a fixed seed, and derive non-contiguous, other-dtype and requires_grad versions themselves.
Domains avoid kinks and poles (a clamp exactly at its bound, the root of a norm at zero), where a numeric derivative means nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TensorSpec:
    shape: tuple[int, ...]
    kind: str  # "float", "int", "bool"
    low: float = -2.0
    high: float = 2.0
    distinct: bool = False  # all values differ by a margin: for max, sort, median
    grad: bool = True  # whether derivatives with respect to it are tested
    values: tuple[Any, ...] | None = None  # explicit, flattened


def T(*shape: int, low: float = -2.0, high: float = 2.0, distinct: bool = False, grad: bool = True, values=None) -> TensorSpec:
    """A floating tensor with values in [low, high)."""
    return TensorSpec(shape, "float", low, high, distinct, grad, tuple(values) if values is not None else None)


def I(*shape: int, low: int = 0, high: int = 4, distinct: bool = False, values=None) -> TensorSpec:  # noqa: E743
    """An int64 tensor with values in [low, high)."""
    return TensorSpec(shape, "int", low, high, distinct, False, tuple(values) if values is not None else None)


def B(*shape: int, values=None) -> TensorSpec:
    """A bool tensor."""
    return TensorSpec(shape, "bool", 0, 2, False, False, tuple(values) if values is not None else None)


@dataclass(frozen=True)
class Sample:
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def S(*args: Any, **kwargs: Any) -> Sample:
    return Sample(args, kwargs)


@dataclass(frozen=True)
class ErrorSample:
    sample: Sample
    error: type[Exception]
    match: str  # regular expression


def E(sample: Sample, error: type[Exception], match: str) -> ErrorSample:
    return ErrorSample(sample, error, match)


def unary(low: float = -2.0, high: float = 2.0, **kwargs: Any) -> list[Sample]:
    """Shapes every elementwise function of one tensor is tried on: vector, matrix, 0-d, empty, odd sizes past a vector register."""
    shapes = [(5,), (3, 4), (), (0,), (2, 0, 3), (67,)]
    return [S(T(*s, low=low, high=high), **kwargs) for s in shapes]


def binary(low: float = -2.0, high: float = 2.0, low2: float | None = None, high2: float | None = None, scalar: float | None = None, **kwargs: Any) -> list[Sample]:
    """Same shape, broadcast both ways, 0-d, empty; with `scalar` also a Python number on the right."""
    lo2, hi2 = low if low2 is None else low2, high if high2 is None else high2
    pairs = [((3, 4), (3, 4)), ((5,), (5,)), ((3, 4), (4,)), ((4,), (3, 4)), ((3, 1), (1, 4)), ((), (3,)), ((3,), ()), ((), ()), ((0, 3), (3,)), ((35,), (35,))]
    out = [S(T(*a, low=low, high=high), T(*b, low=lo2, high=hi2), **kwargs) for a, b in pairs]
    if scalar is not None:
        out += [S(T(3, 4, low=low, high=high), scalar, **kwargs), S(T(low=low, high=high), scalar, **kwargs)]
    return out


BROADCAST_ERROR = E(S(T(2, 3), T(4)), RuntimeError, "must match the size of tensor b")
