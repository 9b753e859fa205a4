"""Tensors for either engine from the specs of optable/samples.py: the same numbers everywhere, in any dtype and memory layout."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Iterator
from typing import Any

from optable.samples import TensorSpec

FLOATS = ("float64", "float32", "float16", "bfloat16")
COMPLEX = ("complex128", "complex64")  # a number is two floats wherever lists of numbers are meant
INEXACT = FLOATS + COMPLEX
INTEGERS = ("int64", "int32", "int16", "int8", "uint8")
WIDE_UNSIGNED = ("uint16", "uint32", "uint64")
DTYPES = FLOATS + INTEGERS + ("bool",)
LAYOUTS = ("transposed", "strided", "expanded")


def seed_of(text: str) -> random.Random:
    return random.Random(int.from_bytes(hashlib.sha1(text.encode()).digest()[:6], "big"))


# ---- numbers ----


def half(x: float) -> float:
    """Rounded to the 11 bits of a half, so that every floating dtype but bfloat16 holds the same number."""
    if x == 0 or not math.isfinite(x):
        return x
    fraction, exponent = math.frexp(x)
    return math.ldexp(round(fraction * 2048), exponent - 11)


def numbers(spec: TensorSpec, rng: random.Random) -> list[Any]:
    """The elements of a tensor, row by row. Floating ones keep off the ends of [low, high), which may be poles."""
    count = math.prod(spec.shape)
    if spec.values is not None:
        return list(spec.values)
    order = list(range(count))
    for i in range(count - 1, 0, -1):  # a shuffle written out, because Random.shuffle may change between versions of Python
        j = int(rng.random() * (i + 1))
        order[i], order[j] = order[j], order[i]
    if spec.kind == "bool":
        return [rng.random() < 0.5 for _ in order]
    span = spec.high - spec.low
    if spec.kind == "int":
        if spec.distinct:
            return [int(spec.low) + k for k in order]
        return [math.floor(spec.low + span * rng.random()) for _ in order]
    if spec.distinct:
        return [half(spec.low + span * (k + 0.3 + 0.4 * rng.random()) / count) for k in order]
    return [half(spec.low + span * (0.01 + 0.98 * rng.random())) for _ in order]


def as_integers(values: list[float], spec: TensorSpec, dtype: str) -> list[int]:
    """A floating sample's numbers where the test runs in an integer dtype: domains above zero stay so, distinct numbers stay distinct."""
    if spec.distinct:
        whole = [sorted(values).index(x) - (0 if dtype.startswith("uint") else len(values) // 2) for x in values]
    else:
        whole = [math.ceil(x) if spec.low > 0 else round(x) for x in values]
    if dtype == "bool":
        return [bool(x) for x in whole]
    return [abs(x) for x in whole] if dtype.startswith("uint") else whole


# ---- tensors ----


def repeats(spec: TensorSpec) -> bool:
    return spec.kind == "float" and not spec.distinct and len(spec.shape) > 0 and spec.shape[0] > 1 and math.prod(spec.shape) > 0


def _strides(spec: TensorSpec, layout: str) -> tuple[int, ...]:
    shape = list(spec.shape)
    if layout == "transposed":
        return tuple(math.prod(shape[:i]) for i in range(len(shape)))
    dense = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    if layout == "expanded" and repeats(spec):
        return (0, *dense[1:])
    return tuple(2 * s for s in dense) if layout == "strided" else tuple(dense)


def _indices(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if not shape:
        yield ()
        return
    for i in range(shape[0]):
        for rest in _indices(shape[1:]):
            yield (i, *rest)


def make_tensor(engine: Any, spec: TensorSpec, values: list[Any], dtype: str, layout: str = "contiguous") -> Any:
    """A tensor of the spec's shape. Memory between the elements of a strided one holds NaN (or an index out of all range)."""
    name = {"float": dtype, "int": "int64", "bool": "bool"}[spec.kind]
    if name in COMPLEX:
        values = paired(values)
    elif spec.kind == "float" and dtype not in FLOATS:
        values = as_integers(values, spec, dtype)
    kind = getattr(engine, name)
    if layout == "contiguous" or not values:
        return engine.tensor(values, dtype=kind).reshape(spec.shape)
    strides, offset = _strides(spec, layout), 1 if layout == "strided" else 0
    places = [offset + sum(i * s for i, s in zip(index, strides, strict=True)) for index in _indices(spec.shape)]
    memory: list[Any] = [math.nan if name in INEXACT else 99 if name != "bool" else True] * (max(places) + 2)
    for place, value in zip(places, values, strict=True):
        memory[place] = value
    return engine.tensor(memory, dtype=kind).as_strided(spec.shape, strides, offset)


def flatten(value: Any) -> list[Any]:
    """Tensors and numbers of a result, in order."""
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in flatten(item)]
    return [value]


def paired(values: list[float]) -> list[complex]:
    return [complex(*pair) for pair in zip(values[::2], values[1::2], strict=True)]


def unpaired(values: list[complex]) -> list[float]:
    return [part for z in values for part in (z.real, z.imag)]


def tensor_numbers(tensor: Any) -> list[Any]:
    """Elements row by row, as Python numbers; complex ones as their parts."""
    if getattr(tensor, "_is_zerotensor", bool)():  # PyTorch's zeros without memory
        return [0.0] * (tensor.numel() * (2 if tensor.is_complex() else 1))
    numbers = flatten(tensor.detach().tolist())
    return unpaired(numbers) if tensor.is_complex() else numbers
