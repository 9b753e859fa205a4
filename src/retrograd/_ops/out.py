"""out= of functions that are written in Python."""

from __future__ import annotations

import warnings
from typing import Any, TypeVar

import retrograd as torch

_Result = TypeVar("_Result")  # a tensor, or a tuple of them

EXACT = "Expected out tensor to have dtype {result_cpp}, but got {out_cpp} instead"
CAST = "result type {result} can't be cast to the desired output type {out}"


def castable(op: str, name: str = "result") -> str:
    """Words for an out= that cannot take the result of `op`."""
    return f"{op}: Expected {name} to be safely castable from {{result}} dtype, but got {name} with dtype {{out}}"


def dtype_title(dtype: Any) -> str:
    """A dtype as in "Float"."""
    title: str = dtype._title
    return title


def _check_dtype(result: Any, out: Any, exact: str | None, cast: str) -> None:
    if result == out or (exact is None and torch.can_cast(result, out)):
        return
    words = cast if exact is None or (not torch.can_cast(result, out) and cast != CAST) else exact
    cpp = [d._cpp_name for d in (result, out)]
    raise RuntimeError(words.format(result=dtype_title(result), out=dtype_title(out), result_cpp=cpp[0], out_cpp=cpp[1]))


def written(result: _Result, out: Any, exact: str | None = EXACT, *, cast: str = CAST) -> _Result:
    """`result`, or where there is an `out` that tensor with the numbers of `result` in it; a tuple for a result of several tensors.

    `exact` are the words for an out= of another dtype than the result, None where any will do that the result can be cast to; `cast` are those
    for one that it cannot be cast to.
    """
    if out is None:
        return result
    if isinstance(result, tuple):
        if not isinstance(out, (tuple, list)) or len(out) != len(result):
            raise TypeError(f"out= must be a tuple of {len(result)} Tensors, got {type(out).__name__}")
        for r, o in zip(result, out, strict=True):
            if isinstance(o, torch.Tensor):
                _check_dtype(r.dtype, o.dtype, exact, cast)
        both = [written(r, o, exact, cast=cast) for r, o in zip(result, out, strict=True)]
        return type(result)(*both) if hasattr(result, "_fields") else type(result)(both)
    if not isinstance(out, torch.Tensor) or not isinstance(result, torch.Tensor):
        raise TypeError(f"out= must be a Tensor, not {type(out).__name__}")
    if torch.is_grad_enabled() and (result.requires_grad or out.requires_grad):
        raise RuntimeError(
            "functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad. "
            "Leave out= away and use the result, or call the function under torch.no_grad()."
        )
    _check_dtype(result.dtype, out.dtype, exact, cast)
    if out.shape != result.shape:
        if out.numel():
            warnings.warn(
                f"An output with one or more elements was resized since it had shape {list(out.shape)}, which does not match the required "
                f"output shape {list(result.shape)}. Pass out= of the right shape, or resize it first with out.resize_(0).",
                stacklevel=3,
            )
        out.resize_(result.shape)
    filled: Any = out.copy_(result)  # of the type of the result
    return filled
