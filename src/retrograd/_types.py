"""Legacy tensor types (FloatTensor and friends) and questions about objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrograd import _C
from retrograd._C import Tensor

_NAMES = {
    "BoolTensor": _C.bool, "ByteTensor": _C.uint8, "CharTensor": _C.int8, "ShortTensor": _C.int16, "IntTensor": _C.int32,
    "LongTensor": _C.int64, "HalfTensor": _C.float16, "BFloat16Tensor": _C.bfloat16, "FloatTensor": _C.float32, "DoubleTensor": _C.float64,
    "ComplexFloatTensor": _C.complex64, "ComplexDoubleTensor": _C.complex128,
}  # fmt: skip

__all__ = [
    "BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor", "LongTensor",
    "ShortTensor", "is_tensor", "set_default_tensor_type", "typename",
]  # fmt: skip


class _TensorTypeMeta(type):
    """isinstance(t, torch.FloatTensor) asks for the dtype."""

    dtype: Any

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.dtype == cls.dtype and instance.layout is _C.strided

    def __call__(cls, *args: Any, **kwargs: Any) -> Tensor:
        from retrograd._tensor import _legacy_new

        return _legacy_new(*args, dtype=cls.dtype, **kwargs)


def _make(name: str, dtype: Any) -> type:
    return _TensorTypeMeta(name, (), {"dtype": dtype, "__module__": "torch", "__doc__": f"Legacy constructor of {dtype} tensors."})


if TYPE_CHECKING:  # to tools they are classes of tensors

    class BoolTensor(Tensor): ...

    class ByteTensor(Tensor): ...

    class CharTensor(Tensor): ...

    class ShortTensor(Tensor): ...

    class IntTensor(Tensor): ...

    class LongTensor(Tensor): ...

    class HalfTensor(Tensor): ...

    class BFloat16Tensor(Tensor): ...

    class FloatTensor(Tensor): ...

    class DoubleTensor(Tensor): ...

else:
    for _name, _dtype in _NAMES.items():
        globals()[_name] = _make(_name, _dtype)


def name_of_dtype(dtype: Any) -> str:
    return f"{dtype._title}Tensor"


def dtype_of_name(kind: Any) -> Any:
    """The dtype of 'torch.FloatTensor', or of the class of that name."""
    if isinstance(kind, _TensorTypeMeta):
        return kind.dtype
    if isinstance(kind, str):
        name = kind.removeprefix("torch.")
        for dtype in vars(_C).values():
            if isinstance(dtype, _C.dtype) and name == name_of_dtype(dtype):
                return dtype
        if name.startswith("cuda."):
            raise TypeError(f"type {kind} not available. Torch not compiled with CUDA enabled.")
    python = {float: _C.float64, int: _C.int64, bool: _C.bool, complex: _C.complex128}
    if isinstance(kind, type) and kind in python:
        return python[kind]
    raise ValueError(f"invalid type: {kind!r}")


def is_tensor(obj: Any) -> bool:
    """Whether obj is a Tensor."""
    return isinstance(obj, Tensor)


def typename(obj: Any) -> str:
    """'torch.FloatTensor' for tensors, the qualified class name for anything else."""
    if isinstance(obj, Tensor):
        return obj.type()
    kind = type(obj)
    module = kind.__module__
    return kind.__qualname__ if module in ("builtins", None) else f"{module}.{kind.__qualname__}"


def set_default_tensor_type(t: Any) -> None:
    """Sets the default dtype by the name of a tensor type."""
    _C.set_default_dtype(dtype_of_name(t))
