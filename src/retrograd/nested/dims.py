"""Reductions and changes of shape of nested tensors. A dimension of a nested tensor is that of its parts and one more, as the parts stand along dimension 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import retrograd as torch
from retrograd import Tensor
from retrograd.nested.tensor import NestedTensor, _refuse, nested


def _place(tensor: NestedTensor, dim: int, name: str, more: int = 0) -> int:
    """The dimension of a part; `more` for an op that makes one."""
    count = tensor.dim() + more
    if not -count <= dim < count:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got {dim})")
    if dim % count == 0:
        _refuse(f"{name} along dimension 0, which the parts stand in")
    return dim % count - 1


def _each(tensor: NestedTensor, function: Callable[[Tensor], Any], ragged: int | None = None) -> NestedTensor:
    return nested([function(part) for part in tensor._parts], tensor._layout, tensor._ragged if ragged is None else ragged)


# -- reductions ------------------------------------------------------------------------------------


def _reduction(name: str) -> Callable[..., Any]:
    def reduce(input: NestedTensor, dim: Any = None, keepdim: bool = False, **options: Any) -> Any:
        function = getattr(torch, name)
        if dim is None or dim == ():
            return function(torch.cat([part.reshape(-1) for part in input._parts]), **options)
        dims = (dim,) if isinstance(dim, int) else tuple(dim)
        places = sorted({d % input.dim() - 1 if -input.dim() <= d < input.dim() else _place(input, d, name) for d in dims})
        ragged = input._ragged
        if places[0] == -1:
            if ragged not in places:
                _refuse(f"{name} along dimension 0 without the dimension in which the parts differ")
            places.remove(-1)
            whole = function(torch.cat(input._parts, ragged), places[0] if isinstance(dim, int) else places, keepdim, **options)
            return whole.unsqueeze(0) if keepdim else whole
        given = places[0] if isinstance(dim, int) else places
        results = [function(part, given, keepdim, **options) for part in input._parts]
        left = ragged if keepdim else ragged - sum(place < ragged for place in places)

        def joined(parts: list[Any]) -> Any:
            return torch.stack(parts) if ragged in places and input._layout is torch.jagged else nested(parts, input._layout, left)

        if isinstance(results[0], tuple):  # max and min: values and indices
            return type(results[0])([joined([result[i] for result in results]) for i in range(2)])
        return joined(results)

    return reduce


# -- shapes ----------------------------------------------------------------------------------------


def transpose(input: NestedTensor, dim0: int, dim1: int) -> NestedTensor:
    """Two dimensions of the parts, exchanged."""
    a, b = _place(input, dim0, "transpose"), _place(input, dim1, "transpose")
    return _each(input, lambda part: part.transpose(a, b), {a: b, b: a}.get(input._ragged))


def permute(input: NestedTensor, *dims: Any) -> NestedTensor:
    """The dimensions of the parts in another order."""
    order = list(dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims)
    if len(order) != input.dim() or order[0] % input.dim() != 0:
        _refuse("permute that moves dimension 0, in which the parts stand")
    places = [_place(input, dim, "permute") for dim in order[1:]]
    return _each(input, lambda part: part.permute(places), places.index(input._ragged))


def unsqueeze(input: NestedTensor, dim: int) -> NestedTensor:
    """A dimension of size 1 more."""
    place = _place(input, dim, "unsqueeze", 1)
    return _each(input, lambda part: part.unsqueeze(place), input._ragged + (place <= input._ragged))


def squeeze(input: NestedTensor, dim: int) -> NestedTensor:
    """A dimension of size 1 less."""
    place = _place(input, dim, "squeeze")
    if place == input._ragged or any(part.size(place) != 1 for part in input._parts):
        return input
    return _each(input, lambda part: part.squeeze(place), input._ragged - (place < input._ragged))


def reshape(input: NestedTensor, *shape: Any) -> NestedTensor:
    """Other sizes behind the dimension in which the parts differ, for which -1 stands."""
    sizes = list(shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)
    if len(sizes) < 2 or sizes[0] not in (-1, len(input._parts)) or sizes[1] != -1 or -1 in sizes[2:] or input._ragged != 0:
        _refuse("reshape to anything but (the number of parts, -1, sizes that are given)")
    return _each(input, lambda part: part.reshape(part.size(0), *sizes[2:]))


def _pieces(name: str) -> Callable[..., Any]:
    def cut(input: NestedTensor, many: Any, dim: int = 0) -> Any:
        place = _place(input, dim, name)
        if place == input._ragged:
            _refuse(f"{name} along the dimension in which the parts differ")
        cuts = [getattr(torch, name)(part, many, place) for part in input._parts]
        return tuple(nested(list(pieces), input._layout, input._ragged) for pieces in zip(*cuts, strict=True))

    return cut


def select(input: NestedTensor, dim: int, index: int) -> Any:
    """What stands at a place of a dimension that all parts have alike; along dimension 0 a part."""
    if dim % input.dim() == 0:
        return input._parts[index]
    place = _place(input, dim, "select")
    if place == input._ragged and input._layout is torch.jagged:
        _refuse("select along the dimension in which the parts differ")
    return _each(input, lambda part: part.select(place, index), input._ragged - (place < input._ragged))


def narrow(input: NestedTensor, dim: int, start: int, length: int) -> NestedTensor:
    """A stretch of a dimension that all parts have alike."""
    place = _place(input, dim, "narrow")
    if place == input._ragged:
        _refuse("narrow along the dimension in which the parts differ")
    return _each(input, lambda part: part.narrow(place, start, length))


# -- products and joining --------------------------------------------------------------------------


def matmul(input: Any, other: Any) -> NestedTensor:
    """Each part by a matrix, or by the part of another nested tensor."""
    if isinstance(input, NestedTensor) and isinstance(other, NestedTensor):
        if len(input._parts) != len(other._parts):
            raise RuntimeError(
                f"matmul: Expected size for the 1st dimension of 2nd input tensor to be {len(input._parts)} but got {len(other._parts)}"
            )
        return nested([a @ b for a, b in zip(input._parts, other._parts, strict=True)], input._layout, None)
    if not isinstance(input, NestedTensor) or other.dim() > 2:
        _refuse("matmul of a tensor by a nested tensor, or of a nested tensor by a tensor of more than two dimensions")
    return _each(input, lambda part: part @ other)


def cat(tensors: Any, dim: int = 0) -> NestedTensor:
    """The parts of all, one nested tensor behind the other."""
    if dim != 0 or not all(isinstance(t, NestedTensor) for t in tensors):
        _refuse("cat but of nested tensors along dimension 0")
    return nested([part for t in tensors for part in t._parts], tensors[0]._layout, tensors[0]._ragged)


CALLS: dict[str, Callable[..., Any]] = {
    **{name: _reduction(name) for name in ["sum", "mean", "amax", "amin", "prod", "all", "any", "max", "min", "argmax", "argmin"]},
    **{name: _pieces(name) for name in ("chunk", "split")},
    **{f.__name__: f for f in (transpose, permute, unsqueeze, squeeze, reshape, select, narrow, matmul, cat)},
    "swapaxes": transpose,
    "swapdims": transpose,
    "view": reshape,
    "bmm": matmul,
    "__matmul__": matmul,
    "concat": cat,
}
