"""`finfo` and `iinfo`: the limits of floating point and integer dtypes."""

from __future__ import annotations

import math
from typing import Any

import retrograd

__all__ = ["finfo", "iinfo"]

# name: (bits, bits of the significand after the point, largest number, smallest normal number)
_FLOATS = {
    "float16": (16, 10, 65504.0, 2.0**-14),
    "bfloat16": (16, 7, (2 - 2.0**-7) * 2.0**127, 2.0**-126),
    "float32": (32, 23, (2 - 2.0**-23) * 2.0**127, 2.0**-126),
    "float64": (64, 52, (2 - 2.0**-52) * 2.0**1023, 2.0**-1022),
    "float8_e4m3fn": (8, 3, 448.0, 2.0**-6),
    "float8_e5m2": (8, 2, 57344.0, 2.0**-14),
    "float8_e4m3fnuz": (8, 3, 240.0, 2.0**-7),
    "float8_e5m2fnuz": (8, 3, 57344.0, 2.0**-15),  # PyTorch's number of digits, one more than there are
    "float8_e8m0fnu": (8, 0, 2.0**127, 2.0**-127),
}
# A complex dtype has the limits, and the name, of its parts.
_PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}

_MISSING: Any = object()


def _name(dtype: Any) -> str:
    return str(dtype).rpartition(".")[2]


_OF_PYTHON = {float: retrograd.float64, complex: retrograd.complex128, int: retrograd.int64, bool: retrograd.bool}


def _dtype(value: Any, where: str) -> Any:
    if isinstance(value, type):
        value = _OF_PYTHON.get(value, value)
    if not isinstance(value, retrograd.dtype):
        raise TypeError(f"{where}(): argument 'type' (position 1) must be torch.dtype, not {type(value).__name__}")
    return value


class _Info:
    __slots__ = ("bits", "dtype", "max", "min")
    bits: int
    dtype: str
    max: float
    min: float
    __hash__ = None  # type: ignore[assignment]  # equal by value, as PyTorch's

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"attribute '{name}' of '{type(self).__name__}' objects is not writable")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Info) and type(self) is type(other) and self.dtype == other.dtype


_KNOWN: dict[Any, finfo] = {}  # there is nothing to change about one, and programs ask in loops


class finfo(_Info):
    """The limits of a floating point dtype; of the default dtype when called without one.

    Attributes:
        bits: size of one number.
        eps: distance from 1.0 to the next number.
        max, min: largest and most negative finite number.
        tiny, smallest_normal: smallest positive number of full precision.
        resolution: ten to the minus the number of decimal digits that survive a round trip.
        dtype: name of the dtype, a string. A complex dtype gives that of its parts.

    Example::

        >>> retrograd.finfo(retrograd.float32).eps
        1.1920928955078125e-07
    """

    __slots__ = ("eps", "resolution", "smallest_normal", "tiny")
    eps: float
    resolution: float
    smallest_normal: float
    tiny: float

    def __new__(cls, type: Any = _MISSING) -> finfo:
        if type is _MISSING:
            type = retrograd.get_default_dtype()
        if cls is finfo and type.__class__ is retrograd.dtype and (known := _KNOWN.get(type)) is not None:
            return known
        made = super().__new__(cls)
        made._find(type)
        if cls is finfo and type.__class__ is retrograd.dtype:
            _KNOWN[type] = made
        return made

    def _find(self, type: Any) -> None:
        type = _dtype(type, "finfo")
        name = _name(type)
        name = _PARTS.get(name, name)
        if name not in _FLOATS:
            raise TypeError(f"torch.finfo() requires a floating point input type, got {type}. Use torch.iinfo to handle integer types")
        bits, digits, largest, smallest = _FLOATS[name]
        self._set(
            bits=bits,
            dtype=name,
            eps=2.0**-digits,
            max=largest,
            min=-largest if type.is_signed else smallest,
            tiny=smallest,
            smallest_normal=smallest,
            resolution=float(f"1e-{math.floor(digits * math.log10(2))}"),
        )

    def __repr__(self) -> str:
        shown = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        fields = ", ".join(f"{name}={getattr(self, name):g}" for name in shown)
        return f"finfo({fields}, dtype={self.dtype})"


class iinfo(_Info):
    """The limits of an integer dtype.

    Attributes:
        bits: size of one number.
        max, min: largest and smallest number.
        dtype: name of the dtype, a string.

    Example::

        >>> retrograd.iinfo(retrograd.int8).max
        127
    """

    __slots__ = ()

    def __init__(self, type: Any = _MISSING) -> None:
        if type is _MISSING:
            raise TypeError('iinfo() missing 1 required positional arguments: "type"')
        type = _dtype(type, "iinfo")
        name = _name(type)
        if name == "bool":
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if not name.startswith(("int", "uint")) or int(name.rpartition("int")[2]) != 8 * type.itemsize:
            raise TypeError(f"torch.iinfo() requires an integer input type, got {type}. Use torch.finfo to handle floating point types")
        bits = int(name.rpartition("int")[2])
        low, high = (0, 2**bits) if name.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1))
        self._set(bits=bits, dtype=name, min=low, max=high - 1)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
