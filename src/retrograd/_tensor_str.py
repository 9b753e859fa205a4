"""How a tensor prints: the text of ``repr(tensor)``, and the options that shape it.

Everything works on Python numbers taken from the tensor once by ``tolist``. A tensor longer than
``threshold`` contributes only the edges of each dimension, so printing never touches the middle of a
large tensor. One column width is found for all the numbers on display; a floating tensor also picks
one of three notations for them:

* integral, when every number on display is whole: ``1.``, ``20.``;
* scientific, when the magnitudes differ by more than 1000 or leave the range 1e-4 ... 1e8;
* fixed point otherwise, with ``precision`` digits.

Zeros, infinities and NaNs have no say in that choice.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import sys
from collections.abc import Iterator
from typing import Any

import retrograd

__all__ = ["PRINT_OPTS", "PrintOptions", "get_printoptions", "printoptions", "set_printoptions", "tensor_repr"]


@dataclasses.dataclass
class PrintOptions:
    """What `set_printoptions` sets; see there for the meaning of each field."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PRINT_OPTS = PrintOptions()

_PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors print. An argument left out keeps its value, except `sci_mode`.

    Args:
        precision: digits after the decimal point of a floating point number.
        threshold: number of elements above which only the edges are shown.
        edgeitems: how many elements of each dimension are shown at either edge.
        linewidth: characters on a line before it is broken.
        profile: ``"default"``, ``"short"`` or ``"full"``; the other arguments are applied on top.
        sci_mode: always (True) or never (False) use scientific notation. None, also when left out,
            lets each tensor decide.
    """
    given = dict(_PROFILES.get(profile, {})) if profile is not None else {}
    chosen = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    given.update((name, value) for name, value in chosen.items() if value is not None)
    for name, value in given.items():
        setattr(PRINT_OPTS, name, value)
    PRINT_OPTS.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """The options in force, as keyword arguments for `set_printoptions`."""
    return dataclasses.asdict(PRINT_OPTS)


@contextlib.contextmanager
def printoptions(**kwargs: Any) -> Iterator[None]:
    """`set_printoptions` for the length of a ``with`` block."""
    before = get_printoptions()
    set_printoptions(**kwargs)
    try:
        yield
    finally:
        set_printoptions(**before)


def tensor_repr(t: Any, *, tensor_contents: str | None = None) -> str:
    """The text of ``repr(t)``. `tensor_contents` stands in for the numbers where a subclass has its own."""
    with retrograd._C.DisableTorchFunction():
        return _repr(t, tensor_contents)


# -- numbers ------------------------------------------------------------------

# Stands for the elements left out, in nested lists that `_edges` makes.
_GAP = object()


def _edges(t: Any, edgeitems: int) -> Any:
    """`t.tolist()` with all but the edges of every long dimension replaced by one `_GAP`."""
    if t.dim() == 0:
        return t.item()
    size = t.shape[0]
    if size <= 2 * edgeitems:
        return [_edges(row, edgeitems) for row in t] if t.dim() > 1 else t.tolist()
    head, tail = t[:edgeitems], t[size - edgeitems :]
    if t.dim() == 1:
        return [*head.tolist(), _GAP, *tail.tolist()]
    return [*(_edges(row, edgeitems) for row in head), _GAP, *(_edges(row, edgeitems) for row in tail)]


def _flatten(data: Any) -> list[Any]:
    """The numbers in a nested list, without its gaps."""
    if not isinstance(data, list):
        return [data]
    while data and any(isinstance(item, list) for item in data):
        data = [number for row in data if row is not _GAP for number in row]
    return [number for number in data if number is not _GAP]


class _IntegerColumn:
    """Integers and booleans, as Python prints them."""

    def __init__(self, numbers: list[Any]) -> None:
        self.width = max((len(str(n)) for n in numbers), default=1)

    def __call__(self, number: Any) -> str:
        return str(number).rjust(self.width)


class _FloatColumn:
    """Floating point numbers in one of the three notations that the head of this file describes."""

    def __init__(self, numbers: list[float]) -> None:
        deciding = [n for n in numbers if n != 0 and math.isfinite(n)]
        self.whole = all(n == math.floor(n) for n in deciding)
        self.spec = ".0f" if self.whole else f".{PRINT_OPTS.precision}f"
        if deciding and self._scientific([abs(n) for n in deciding]):
            self.whole = False
            self.spec = f".{PRINT_OPTS.precision}e"
        self.width = max((len(self._text(n)) for n in deciding), default=1)

    def _scientific(self, magnitudes: list[float]) -> bool:
        if PRINT_OPTS.sci_mode is not None:
            return PRINT_OPTS.sci_mode
        low, high = min(magnitudes), max(magnitudes)
        return high / low > 1000.0 or high > 1.0e8 or (low < 1.0e-4 and not self.whole)

    def _text(self, number: float) -> str:
        text = format(number, self.spec)
        return text + "." if self.whole and math.isfinite(number) else text

    def __call__(self, number: float) -> str:
        return self._text(number).rjust(self.width)


class _ComplexColumn:
    """Two columns of floats: real parts are aligned, imaginary parts follow their sign closely."""

    def __init__(self, numbers: list[complex]) -> None:
        self.real = _FloatColumn([n.real for n in numbers])
        self.imag = _FloatColumn([n.imag for n in numbers])
        self.width = self.real.width + self.imag.width + 1

    def __call__(self, number: complex) -> str:
        imag = self.imag(number.imag).lstrip()
        return f"{self.real(number.real)}{'' if imag.startswith('-') else '+'}{imag}j"


def _column(t: Any, numbers: list[Any]) -> Any:
    if t.is_floating_point():
        return _FloatColumn(numbers)
    return _ComplexColumn(numbers) if t.is_complex() else _IntegerColumn(numbers)


# -- brackets and lines -------------------------------------------------------


def _vector(row: list[Any], column: Any, indent: int) -> str:
    per_line = max(1, (PRINT_OPTS.linewidth - indent) // (column.width + 2))
    cells = [" ..." if n is _GAP else column(n) for n in row]
    lines = [", ".join(cells[i : i + per_line]) for i in range(0, len(cells), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _nested(data: Any, dim: int, column: Any, indent: int) -> str:
    if dim == 0:
        return column(data)
    if dim == 1:
        return _vector(data, column, indent)
    rows = ["..." if row is _GAP else _nested(row, dim - 1, column, indent + 1) for row in data]
    return "[" + ("," + "\n" * (dim - 1) + " " * (indent + 1)).join(rows) + "]"


def _numbers(t: Any, indent: int) -> str:
    if t.numel() > PRINT_OPTS.threshold:
        if PRINT_OPTS.edgeitems <= 0 and t.dim() > 0:
            return "[...]"
        data = _edges(t, PRINT_OPTS.edgeitems)
    else:
        data = t.tolist()
    return _nested(data, t.dim(), _column(t, _flatten(data)), indent)


def _join(body: str, suffixes: list[str], indent: int) -> str:
    """Append `, suffix` for each suffix, on a new line where the line would grow too long."""
    parts = [body]
    # Two more than the characters on the last line: this is where PyTorch breaks.
    line = len(body) - body.rfind("\n") + 1
    for suffix in suffixes:
        if line + len(suffix) + 2 > PRINT_OPTS.linewidth:
            parts.append(",\n" + " " * indent + suffix)
            line = indent + len(suffix)
        else:
            parts.append(", " + suffix)
            line += len(suffix) + 2
    return "".join(parts)


# -- the whole ----------------------------------------------------------------


def _batched(t: Any, level: int) -> str:
    """A tensor inside vmap: the samples of all."""
    from retrograd.func._vmap import depth_of

    value, dim = retrograd._C._unwrap_batched(t, level)
    lines = _repr(value, None).replace("\n", "\n    ")
    return f"BatchedTensor(lvl={depth_of(level)}, bdim={dim}, value=\n    {lines}\n)"


def _repr(t: Any, contents: str | None) -> str:
    if level := retrograd._C._batch_level(t):
        return _batched(t, level)
    plain = type(t) is retrograd.Tensor or type(t) is retrograd.nn.Parameter
    prefix = "tensor(" if plain else f"{type(t).__name__}("
    values = t.detach()
    body = contents if contents is not None else _contents(values, len(prefix))
    suffixes = _nature(values) + _history(t) + _tangent(t)
    text = _join(prefix + body, suffixes, len(prefix)) + ")"
    return text if plain or not isinstance(t, retrograd.nn.Parameter) else f"Parameter({text})"


def _contents(t: Any, indent: int) -> str:
    if t.device.type == "meta":
        return "..."
    return "[]" if t.numel() == 0 else _numbers(t, indent)


_tensor_str = _contents  # the name under which libraries look for it


def _nature(t: Any) -> list[str]:
    """Device, size and dtype, each only where the numbers do not already say it."""
    meta = t.device.type == "meta"
    empty = t.numel() == 0
    suffixes = []
    if t.device.type != "cpu":
        suffixes.append(f"device='{t.device}'")
    if meta or (t.dim() != 1 if empty else PRINT_OPTS.edgeitems == 0):
        suffixes.append(f"size={tuple(t.shape)}")
    if not _dtype_shows(t, numbers=not (meta or empty)):
        suffixes.append(f"dtype={t.dtype}")
    return suffixes


def _dtype_shows(t: Any, numbers: bool) -> bool:
    """Whether a reader (or `retrograd.tensor`) can tell the dtype from the text alone."""
    default = retrograd.get_default_dtype()
    if t.dtype == default:
        return True
    if not numbers:
        return False
    if t.is_complex():
        return t.dtype == (retrograd.complex128 if default == retrograd.float64 else retrograd.complex64)
    return t.dtype in (retrograd.int64, retrograd.bool)


def _history(t: Any) -> list[str]:
    try:
        grad_fn = t.grad_fn
    except RuntimeError:  # an output of a multi-view function that was changed in place
        return ["grad_fn=<Invalid>"]
    if grad_fn is not None:
        return [f"grad_fn=<{type(grad_fn).__name__}>"]
    return ["requires_grad=True"] if t.requires_grad else []


def _tangent(t: Any) -> list[str]:
    forward_ad = sys.modules.get("retrograd.autograd.forward_ad")
    if forward_ad is None or forward_ad._current_level < 0:
        return []
    tangent = forward_ad.unpack_dual(t).tangent
    if tangent is None:
        return []
    # As in an f-string: a tensor without dimensions shows its number alone.
    return [f"tangent={tangent.item() if tangent.dim() == 0 else _repr(tangent, None)}"]
