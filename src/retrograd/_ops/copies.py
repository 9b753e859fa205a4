"""The `<view>_copy` functions that give several tensors: what views would show, in memory of their own. The others are made by the op table."""

from __future__ import annotations

from collections.abc import Sequence

from retrograd import _C
from retrograd._C import Tensor
from retrograd._ops.out import written


def _copies(name: str, views: Sequence[Tensor], out: Sequence[Tensor]) -> None:
    copies = _C._ops._copied(views)
    if not isinstance(out, (tuple, list)):
        raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not {type(out).__name__}")
    if len(out) != len(views):
        raise RuntimeError(f"{name}() expected an out= argument of size {len(views)}, got size {len(out)}")
    for copy, target in zip(copies, out, strict=True):
        written(copy, target)


def split_copy(input: Tensor, split_size: int, dim: int = 0, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...] | None:
    """Copies of parts of one dimension, of one size; with out= they go there, and nothing is returned."""
    views = _C._ops.split(input, split_size, dim)
    if out is None:
        return _C._ops._copied(views)
    _copies("split_copy", views, out)
    return None


def split_with_sizes_copy(
    input: Tensor, split_sizes: Sequence[int], dim: int = 0, *, out: Sequence[Tensor] | None = None
) -> tuple[Tensor, ...] | None:
    """Copies of parts of one dimension, of given sizes; with out= they go there, and nothing is returned."""
    views = _C._ops.split_with_sizes(input, split_sizes, dim)
    if out is None:
        return _C._ops._copied(views)
    _copies("split_with_sizes_copy", views, out)
    return None


def unbind_copy(input: Tensor, dim: int = 0, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...] | None:
    """Copies of the slices along a dimension; with out= they go there, and nothing is returned."""
    views = _C._ops.unbind(input, dim)
    if out is None:
        return _C._ops._copied(views)
    _copies("unbind_copy", views, out)
    return None
