"""The `<view>_copy` functions: what a view would show, in memory of its own. The op table makes their entries from those of the views."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import retrograd as torch
from retrograd import _C
from retrograd._C import Tensor
from retrograd._ops.out import written

F = TypeVar("F", bound=Callable[..., Any])


def _checked(function: F) -> F:
    """Says in words that an argument is no tensor, where the view would miss a method."""

    @functools.wraps(function)
    def checked(input: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(input, Tensor):
            raise TypeError(f"{function.__name__}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
        return function(input, *args, **kwargs)

    return cast(F, checked)


def _copied(view: Tensor) -> Tensor:
    return view.resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)


def _copy(view: Tensor, out: Tensor | None) -> Tensor:
    return written(_copied(view), out)


def _copies(name: str, views: Sequence[Tensor], out: Sequence[Tensor] | None) -> tuple[Tensor, ...] | None:
    if out is None:
        return tuple(map(_copied, views))
    if not isinstance(out, (tuple, list)):
        raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not {type(out).__name__}")
    if len(out) != len(views):
        raise RuntimeError(f"{name}() expected an out= argument of size {len(views)}, got size {len(out)}")
    for view, target in zip(views, out, strict=True):
        _copy(view, target)
    return None


@_checked
def alias_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of all of input."""
    return _copy(input, out)


@_checked
def as_strided_copy(
    input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None, *, out: Tensor | None = None
) -> Tensor:
    """A copy of the memory of input read with any sizes, strides and offset."""
    return _copy(input.as_strided(size, stride, storage_offset), out)


@_checked
def detach_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of all of input, without history."""
    return _copy(input.detach(), out)


@_checked
def expand_copy(input: Tensor, size: Sequence[int], *, implicit: bool = False, out: Tensor | None = None) -> Tensor:
    """A copy of input repeated along dimensions of size 1."""
    return _copy(input.expand(size), out)


@_checked
def narrow_copy(input: Tensor, dim: int, start: int | Tensor, length: int, *, out: Tensor | None = None) -> Tensor:
    """A copy of `length` indices of one dimension from start."""
    return _copy(input.narrow(dim, start, length), out)


@_checked
def permute_copy(input: Tensor, dims: Sequence[int], *, out: Tensor | None = None) -> Tensor:
    """A copy of the dimensions in another order."""
    return _copy(input.permute(dims), out)


@_checked
def select_copy(input: Tensor, dim: int, index: int, *, out: Tensor | None = None) -> Tensor:
    """A copy of one index of a dimension."""
    return _copy(input.select(dim, index), out)


@_checked
def slice_copy(
    input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1, *, out: Tensor | None = None
) -> Tensor:
    """A copy of every step-th index of one dimension from start up to end."""
    return _copy(_C._ops.slice(input, dim, start, end, step), out)


@_checked
def squeeze_copy(input: Tensor, dim: int | Sequence[int] | None = None, *, out: Tensor | None = None) -> Tensor:
    """A copy of input without dimensions of size 1."""
    return _copy(input.squeeze() if dim is None else input.squeeze(dim), out)


@_checked
def t_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of a matrix with rows and columns exchanged."""
    return _copy(input.t(), out)


@_checked
def transpose_copy(input: Tensor, dim0: int, dim1: int, *, out: Tensor | None = None) -> Tensor:
    """A copy of two dimensions exchanged."""
    return _copy(input.transpose(dim0, dim1), out)


@_checked
def unfold_copy(input: Tensor, dimension: int, size: int, step: int, *, out: Tensor | None = None) -> Tensor:
    """A copy of windows of one dimension."""
    return _copy(input.unfold(dimension, size, step), out)


@_checked
def unsqueeze_copy(input: Tensor, dim: int, *, out: Tensor | None = None) -> Tensor:
    """A copy of input with one more dimension, of size 1."""
    return _copy(input.unsqueeze(dim), out)


@_checked
def view_as_complex_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of pairs of real numbers as complex ones."""
    return _copy(torch.view_as_complex(input), out)


@_checked
def view_as_real_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of complex numbers as pairs of real ones."""
    return _copy(torch.view_as_real(input.resolve_conj()), out)


@_checked
def view_copy(input: Tensor, size: Sequence[int] | _C.dtype, *, out: Tensor | None = None) -> Tensor:
    """A copy of input under another shape, which need not fit its memory, or of its bytes read as another dtype."""
    return _copy(input.view(size) if isinstance(size, torch.dtype) else input.reshape(size), out)


@_checked
def split_copy(input: Tensor, split_size: int, dim: int = 0, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...] | None:
    """Copies of parts of one dimension, of one size; with out= they go there, and nothing is returned."""
    return _copies("split_copy", input.split(split_size, dim), out)


@_checked
def split_with_sizes_copy(
    input: Tensor, split_sizes: Sequence[int], dim: int = 0, *, out: Sequence[Tensor] | None = None
) -> tuple[Tensor, ...] | None:
    """Copies of parts of one dimension, of given sizes; with out= they go there, and nothing is returned."""
    return _copies("split_with_sizes_copy", input.split_with_sizes(split_sizes, dim), out)


@_checked
def unbind_copy(input: Tensor, dim: int = 0, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...] | None:
    """Copies of the slices along a dimension; with out= they go there, and nothing is returned."""
    return _copies("unbind_copy", input.unbind(dim), out)
