"""Index ops that are written in other ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, overload

import retrograd as torch
from retrograd import Tensor
from retrograd._ops.out import written


@overload
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: Literal[False] = False) -> Tensor: ...
@overload
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False) -> Tensor | tuple[Tensor, ...]:
    """The indices of the elements that are not zero: one row each, or with as_tuple one tensor per dimension."""
    if as_tuple:
        if out is not None:
            raise TypeError("nonzero() got an unexpected keyword argument 'out' together with as_tuple=True")
        return torch._nonzero(input if input.dim() else input.unsqueeze(0)).unbind(1)
    return written(torch._nonzero(input), out, "nonzero: Expected out tensor to have scalar type {result} but got scalar type{out}")


def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Where flat indices are in an array of a shape: one tensor of coordinates per dimension."""
    if not isinstance(indices, torch.Tensor):
        raise TypeError(f"unravel_index(): argument 'indices' must be Tensor, not {type(indices).__name__}")
    if indices.is_complex() or indices.is_floating_point() or indices.dtype == torch.bool:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not isinstance(shape, (int, str)) and not isinstance(shape, (list, tuple)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    sizes = [shape] if isinstance(shape, int) else list(shape)
    for size in sizes:
        if not isinstance(size, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(size)}")
        if size < 0:
            raise ValueError(f"'shape' cannot have negative values, but got {tuple(sizes)}")
    coordinates, step = [], 1
    for size in reversed(sizes):
        if size == 0 and indices.numel():
            raise RuntimeError(f"ZeroDivisionError: an array of shape {tuple(sizes)} has no elements, so there is no index into it")
        flat = indices.to(torch.int64)
        coordinates.append(flat.div(step, rounding_mode="floor").remainder(size) if size and step else flat)
        step *= size
    return torch.stack(coordinates[::-1], -1).unbind(-1) if coordinates else ()
