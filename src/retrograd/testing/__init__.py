"""Helpers for tests: compare results (`assert_close`) and make inputs (`make_tensor`)."""

from __future__ import annotations

import cmath
import math
import numbers
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import retrograd
from retrograd.testing._file_check import FileCheck

__all__ = ["FileCheck", "assert_allclose", "assert_close", "make_tensor"]

Message = str | Callable[[str], str] | None

# Name of the dtype: (rtol, atol). A dtype that is not here is compared exactly.
_TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex32": (1e-3, 1e-5),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}
_PYTHON_DTYPES = {float: "float64", complex: "complex128"}


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: Message = None,
) -> None:
    """Assert that `actual` is `expected` up to rounding: ``|actual - expected| <= atol + rtol * |expected|``.

    Args:
        actual, expected: tensors, numbers, what `retrograd.as_tensor` accepts, or sequences and
            mappings of these, nested as you like.
        allow_subclasses: accept operands whose types differ but are related.
        rtol, atol: tolerances, both or neither; by default chosen by dtype, and exact for integers.
        equal_nan: two NaNs are equal.
        check_device, check_dtype, check_layout, check_stride: what else must agree.
        msg: replaces the message of the failure, or is called with it and returns the one to use.

    Raises:
        AssertionError: with the number of mismatches and the worst of them.
        TypeError: if the operands cannot be compared at all.

    Example::

        >>> retrograd.testing.assert_close(retrograd.tensor([1.0]), retrograd.tensor([1.0 + 1e-7]))
    """
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.")
    rules = _Rules(allow_subclasses, rtol, atol, equal_nan, check_device, check_dtype, check_layout, check_stride)
    try:
        _compare(actual, expected, rules, "")
    except _Mismatch as mismatch:
        text = str(mismatch)
    else:
        return
    raise AssertionError(msg(text) if callable(msg) else text if msg is None else msg)


class _Mismatch(Exception):
    """The operands differ; carries the text of the failure."""

    def __init__(self, text: str, where: str) -> None:
        super().__init__(_located(text, where))


@dataclass
class _Rules:
    """The arguments of `assert_close` that say what counts as equal."""

    allow_subclasses: bool
    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_device: bool
    check_dtype: bool
    check_layout: bool
    check_stride: bool

    def tolerances(self, *dtypes: str) -> tuple[float, float]:
        """The tolerances given, or else the widest that the dtypes ask for."""
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        pairs = [_TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in dtypes]
        return max(p[0] for p in pairs), max(p[1] for p in pairs)


def _located(text: str, where: str) -> str:
    return f"{text}\n\nThe failure occurred for item {where}" if where else text


def _compare(actual: Any, expected: Any, rules: _Rules, where: str) -> None:
    if _both(Sequence, actual, expected) and not isinstance(actual, str) and not isinstance(expected, str):
        _compare_sequences(actual, expected, rules, where)
    elif _both(Mapping, actual, expected):
        _compare_mappings(actual, expected, rules, where)
    elif actual is None or expected is None:
        if actual is not expected:
            raise _Mismatch(f"None mismatch: {actual} is not {expected}", where)
    elif _is_bool(actual) and _is_bool(expected):
        if bool(actual) is not bool(expected):
            raise _Mismatch(f"Booleans mismatch: {actual} is not {expected}", where)
    elif _is_number(actual) and _is_number(expected):
        _compare_numbers(actual, expected, rules, where)
    else:
        pair = _as_tensors(actual, expected, rules)
        if pair is None:
            text = f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}."
            raise TypeError(_located(text, where))
        _compare_tensors(*pair, rules, where)


def _both(kind: Any, actual: Any, expected: Any) -> bool:
    return isinstance(actual, kind) and isinstance(expected, kind)


def _compare_sequences(actual: Any, expected: Any, rules: _Rules, where: str) -> None:
    if len(actual) != len(expected):
        text = f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
        raise _Mismatch(text, where)
    for i in range(len(actual)):
        _compare(actual[i], expected[i], rules, f"{where}[{i!r}]")


def _compare_mappings(actual: Any, expected: Any, rules: _Rules, where: str) -> None:
    if actual.keys() != expected.keys():
        text = (
            "The keys of the mappings do not match:\n"
            f"Missing keys in the actual mapping: {_sorted(expected.keys() - actual.keys())}\n"
            f"Additional keys in the actual mapping: {_sorted(actual.keys() - expected.keys())}"
        )
        raise _Mismatch(text, where)
    for key in _sorted(actual.keys()):
        _compare(actual[key], expected[key], rules, f"{where}[{key!r}]")


def _sorted(keys: Any) -> list[Any]:
    try:
        return sorted(keys)
    except TypeError:  # keys of several types
        return list(keys)


# -- numbers ------------------------------------------------------------------


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Number) and not _is_bool(value)


def _compare_numbers(actual: Any, expected: Any, rules: _Rules, where: str) -> None:
    # NumPy's scalars are compared as the Python numbers they hold.
    actual, expected = (n.item() if hasattr(n, "item") else n for n in (actual, expected))
    if rules.check_dtype and type(actual) is not type(expected):
        raise _Mismatch(f"The (d)types do not match: {type(actual)} != {type(expected)}.", where)
    dtypes = (_PYTHON_DTYPES.get(type(n), "") for n in (actual, expected))
    rtol, atol = rules.tolerances(*dtypes)
    if not _numbers_close(actual, expected, rtol, atol, rules.equal_nan):
        raise _Mismatch(_scalar_text(actual, expected, rtol, atol), where)


def _numbers_close(actual: Any, expected: Any, rtol: float, atol: float, equal_nan: bool) -> bool:
    if actual == expected:
        return True
    if cmath.isnan(actual) and cmath.isnan(expected):
        return equal_nan
    difference = abs(actual - expected)
    return cmath.isfinite(difference) and difference <= atol + rtol * abs(expected)


def _scalar_text(actual: Any, expected: Any, rtol: float, atol: float) -> str:
    difference = abs(actual - expected)
    relative = difference / abs(expected) if expected != 0 else math.inf
    exact = rtol == 0 and atol == 0
    return (
        f"Scalars are not {'equal' if exact else 'close'}!\n\n"
        f"Expected {expected} but got {actual}.\n"
        f"Absolute difference: {difference}{_allowed(atol, exact)}\n"
        f"Relative difference: {relative}{_allowed(rtol, exact)}"
    )


def _allowed(tolerance: float, exact: bool) -> str:
    return "" if exact else f" (up to {tolerance} allowed)"


# -- tensors ------------------------------------------------------------------


def _as_tensors(actual: Any, expected: Any, rules: _Rules) -> tuple[Any, Any] | None:
    """Both as tensors without history, or None if they are not comparable as tensors."""
    related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
    if not related or (not rules.allow_subclasses and type(actual) is not type(expected)):
        return None
    try:
        a, e = (t if isinstance(t, retrograd.Tensor) else retrograd.as_tensor(t) for t in (actual, expected))
    except Exception:  # as_tensor raises what the object's own conversion raises
        return None
    return a.detach(), e.detach()


def _compare_tensors(actual: Any, expected: Any, rules: _Rules, where: str) -> None:
    _compare_attributes(actual, expected, rules, where)
    if "meta" in (actual.device.type, expected.device.type):
        return  # nothing more to compare
    rtol, atol = rules.tolerances(_dtype_name(actual), _dtype_name(expected))
    actual, expected = _aligned(actual, expected)
    close = retrograd.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=rules.equal_nan)
    if bool(close.all()):
        return
    if actual.dim() == 0:
        text = _scalar_text(actual.item(), expected.item(), rtol, atol)
    else:
        text = _tensor_text(actual, expected, close, rtol, atol)
    raise _Mismatch(text, where)


def _dtype_name(t: Any) -> str:
    return str(t.dtype).rpartition(".")[2]


def _compare_attributes(actual: Any, expected: Any, rules: _Rules, where: str) -> None:
    def check(name: str, a: Any, e: Any) -> None:
        if a != e:
            raise _Mismatch(f"The values for attribute '{name}' do not match: {a} != {e}.", where)

    check("shape", actual.shape, expected.shape)
    if rules.check_layout:
        check("layout", actual.layout, expected.layout)
    if rules.check_device:
        check("device", actual.device, expected.device)
    if rules.check_dtype:
        check("dtype", actual.dtype, expected.dtype)
    if rules.check_stride:
        check("stride()", actual.stride(), expected.stride())


def _aligned(actual: Any, expected: Any) -> tuple[Any, Any]:
    """Same device, layout and dtype, so that the values can be compared."""
    if actual.layout != retrograd.strided or expected.layout != retrograd.strided:
        actual, expected = actual.to_dense(), expected.to_dense()
    if actual.device != expected.device:
        actual, expected = actual.cpu(), expected.cpu()
    dtype = retrograd.promote_types(actual.dtype, expected.dtype)
    if not (dtype.is_floating_point or dtype.is_complex):
        dtype = retrograd.int64  # differences of unsigned numbers and of bools need a sign
    elif dtype.itemsize == 1:
        dtype = retrograd.float32  # float8 has no differences
    return actual.to(dtype), expected.to(dtype)


def _tensor_text(actual: Any, expected: Any, close: Any, rtol: float, atol: float) -> str:
    total, wrong = close.numel(), int((~close).sum())
    exact = rtol == 0 and atol == 0
    difference = (actual - expected).abs()
    relative = difference / expected.abs()

    def worst(values: Any) -> str:
        values = values.masked_fill(close, 0)
        flat = int(values.flatten().argmax())
        return f"{values.flatten()[flat].item()} at index {_unravel(flat, values.shape)}"

    return (
        f"Tensor-likes are not {'equal' if exact else 'close'}!\n\n"
        f"Mismatched elements: {wrong} / {total} ({wrong / total:.1%})\n"
        f"Greatest absolute difference: {worst(difference)}{_allowed(atol, exact)}\n"
        f"Greatest relative difference: {worst(relative)}{_allowed(rtol, exact)}"
    )


def _unravel(flat: int, shape: Sequence[int]) -> tuple[int, ...]:
    index: list[int] = []
    for size in reversed(shape):
        flat, i = divmod(flat, size)
        index.append(i)
    return tuple(reversed(index))


_ALLCLOSE_TOLERANCES = {"float16": (1e-3, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-5, 1e-8)}


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """The older, laxer `assert_close`: dtypes may differ, NaNs are equal, tolerances are wider."""
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated, use `torch.testing.assert_close()`.",
        FutureWarning,
        stacklevel=2,
    )
    if not isinstance(actual, retrograd.Tensor):
        actual = retrograd.tensor(actual)
    if not isinstance(expected, retrograd.Tensor):
        expected = retrograd.tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        pairs = [_ALLCLOSE_TOLERANCES.get(_dtype_name(t), (0.0, 0.0)) for t in (actual, expected)]
        rtol, atol = max(p[0] for p in pairs), max(p[1] for p in pairs)
    assert_close(
        actual,
        expected,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_device=True,
        check_dtype=False,
        msg=msg or None,
    )


# -- inputs -------------------------------------------------------------------


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Any:
    """A tensor of random numbers, uniform in ``[low, high)``.

    Args:
        shape: sizes, separately or as one sequence.
        low, high: the interval, cut to what the dtype can hold. By default [-9, 9) for floating point,
            [-9, 10) for signed integers, [0, 10) for unsigned ones and both values for bools.
        requires_grad: floating point and complex only.
        noncontiguous: a strided view of a larger tensor (where there is more than one element).
        exclude_zero: replace zeros by the smallest normal number, or by one.
        memory_format: of the result; not together with `noncontiguous`.
    """
    sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], Sequence) else shape
    if not isinstance(dtype, retrograd.dtype):
        raise TypeError(f"The requested dtype '{dtype}' is not supported by torch.testing.make_tensor().")
    inexact = dtype.is_floating_point or dtype.is_complex
    if requires_grad and not inexact:
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype=}")
    if noncontiguous and memory_format is not None:
        raise ValueError(
            f"The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got {noncontiguous=} and {memory_format=}"
        )
    interval = _interval(low, high, dtype)
    strided = noncontiguous and math.prod(sizes) > 1
    buffer = (*sizes[:-1], 2 * sizes[-1]) if strided else sizes
    make = _uniform if inexact else _integers
    result = make(buffer, *interval, dtype, device)
    if strided:
        result = result[..., 1::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        result[result == 0] = retrograd.finfo(dtype).tiny if inexact else 1
    return result.requires_grad_(requires_grad)


def _limits(dtype: Any) -> tuple[Any, Any, Any, Any]:
    """Default interval and the widest one; the upper ends are exclusive."""
    if dtype == retrograd.bool:
        return 0, 2, 0, 2
    if dtype.is_floating_point or dtype.is_complex:
        limits = retrograd.finfo(dtype)
        return -9, 9, limits.min, limits.max
    info = retrograd.iinfo(dtype)
    return (0 if info.min == 0 else -9), 10, info.min, info.max + 1


def _interval(low: Any, high: Any, dtype: Any) -> tuple[Any, Any]:
    default_low, default_high, least, most = _limits(dtype)
    low = default_low if low is None else low
    high = default_high if high is None else high
    if low != low or high != high:
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    inexact = dtype.is_floating_point or dtype.is_complex
    if low == high and inexact:
        warnings.warn(
            "`low == high` is deprecated for floating point and complex dtypes, use `torch.full(...)`.",
            FutureWarning,
            stacklevel=3,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    if high < least or low >= most:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} only supports [{least}, {most})"
        )
    low, high = max(low, least), min(high, most)
    return (low, high) if inexact else (math.ceil(low), math.ceil(high))


def _uniform(shape: Any, low: float, high: float, dtype: Any, device: Any) -> Any:
    result = retrograd.empty(shape, dtype=dtype, device=device)
    parts = retrograd.view_as_real(result) if dtype.is_complex else result
    if high - low <= retrograd.finfo(dtype).max:
        parts.uniform_(low, high)
    else:  # the width of the interval overflows, that of its half does not
        parts.uniform_(low / 2, high / 2).mul_(2)
    return result


def _integers(shape: Any, low: int, high: int, dtype: Any, device: Any) -> Any:
    return retrograd.randint(low, min(high, 2**63 - 1), shape, dtype=dtype, device=device)
