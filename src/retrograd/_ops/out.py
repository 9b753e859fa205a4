"""out= of functions that are written in Python."""

from __future__ import annotations

import warnings
from typing import Any, TypeVar, cast

import retrograd as torch

_Result = TypeVar("_Result")  # a tensor, or a tuple of them


def written(result: _Result, out: Any) -> _Result:
    """`result`, or where there is an `out` that tensor with the numbers of `result` in it; a tuple for a result of several tensors."""
    if out is None:
        return result
    if isinstance(result, tuple):
        if not isinstance(out, (tuple, list)) or len(out) != len(result):
            raise TypeError(f"out= must be a tuple of {len(result)} Tensors")
        both = [written(r, o) for r, o in zip(result, out, strict=True)]
        return type(result)(*both) if hasattr(result, "_fields") else type(result)(both)
    if not isinstance(out, torch.Tensor) or not isinstance(result, torch.Tensor):
        raise TypeError(f"out= must be a Tensor, not {type(out).__name__}")
    if torch.is_grad_enabled() and (result.requires_grad or out.requires_grad):
        raise RuntimeError(
            "functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad."
        )
    if not torch.can_cast(result.dtype, out.dtype):
        raise RuntimeError(f"Expected out tensor to have dtype {_CPP[result.dtype]}, but got {_CPP[out.dtype]} instead")
    if out.numel() and out.shape != result.shape:
        warnings.warn(
            f"An output with one or more elements was resized since it had shape {list(out.shape)}, which does not match the required "
            f"output shape {list(result.shape)}. Pass out= of the right shape, or resize it first with out.resize_(0).",
            stacklevel=2,
        )
    return cast(_Result, out.resize_(result.shape).copy_(result))


_CPP = {
    torch.bool: "bool", torch.uint8: "unsigned char", torch.int8: "signed char", torch.int16: "short int", torch.int32: "int",
    torch.int64: "long int", torch.float16: "c10::Half", torch.bfloat16: "c10::BFloat16", torch.float32: "float", torch.float64: "double",
    torch.complex64: "c10::complex<float>", torch.complex128: "c10::complex<double>",
}  # fmt: skip
