"""Names for what functions take, in annotations."""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from typing import IO, Any, TypeAlias, Union

from retrograd import Size, SymBool, SymFloat, SymInt, Tensor, device as _device, dtype as _dtype, layout as _layout  # noqa: F401
from retrograd.autograd.graph import GradientEdge as _GradientEdge

__all__ = ["Device", "FileLike", "Number", "Storage"]

_int, _float, _bool, _str, _bytes, _complex = builtins.int, builtins.float, builtins.bool, builtins.str, builtins.bytes, builtins.complex
_size: TypeAlias = Any  # Size, list[int] or tuple[int, ...]
_TensorOrTensors: TypeAlias = Union[Tensor, Sequence[Tensor]]  # noqa: UP007 - values that programs read, and that pickle
_TensorOrOptionalTensors: TypeAlias = Union[Tensor, Sequence[Tensor | None]]  # noqa: UP007
_TensorOrTensorsOrGradEdge: TypeAlias = Union[Tensor, Sequence[Tensor], _GradientEdge, Sequence[_GradientEdge]]  # noqa: UP007

Number: TypeAlias = int | float | bool
_Number = (int, float, bool)
Device: TypeAlias = _device | str | int | None
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]
IntLikeType: TypeAlias = int | SymInt
FloatLikeType: TypeAlias = float | SymFloat
BoolLikeType: TypeAlias = bool | SymBool
py_sym_types = (SymInt, SymFloat, SymBool)
PySymType: TypeAlias = SymInt | SymFloat | SymBool


class Storage:
    """The memory of a tensor, in annotations."""

    _cdata: int
    device: Any
    dtype: Any
    _torch_load_uninitialized: bool
