"""out= of functions that are written in Python."""

from __future__ import annotations

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
        raise RuntimeError(f"Expected out tensor to have dtype {result.dtype}, but got {out.dtype} instead")
    return cast(_Result, out.resize_(result.shape).copy_(result))
