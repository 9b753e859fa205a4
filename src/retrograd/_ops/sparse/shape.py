"""Rearranging sparse tensors, taking parts of them and joining them."""

from __future__ import annotations

from typing import Any

import retrograd as torch
from retrograd import Tensor
from retrograd._ops.sparse.construct import starts
from retrograd._ops.sparse.history import _group_keys, as_coo, keys_of, values_of, with_parts
from retrograd._ops.sparse.tensor import BSC, BSR, COO, CSC, CSR, Parts, is_sparse, refuse

TURNED = {CSR: CSC, CSC: CSR, BSR: BSC, BSC: BSR}


def wrap(dim: int, count: int) -> int:
    """A dimension counted from the front."""
    if not -max(count, 1) <= dim < max(count, 1):
        raise IndexError(f"Dimension out of range (expected to be in range of [{-max(count, 1)}, {max(count, 1) - 1}], but got {dim})")
    return dim % count if count else 0


# -- other orders of dimensions -------------------------------------------------------------------


def permute(input: Any, *dims: Any) -> Any:
    """The dimensions in another order."""
    given = dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims
    order = [wrap(d, input.dim()) for d in given]
    if sorted(order) != list(range(input.dim())):
        raise RuntimeError(
            f"permute(sparse): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. "
            f"input.dim() = {input.dim()} is not equal to len(dims) = {len(order)}, or dims repeat"
        )
    parts = input.parts
    if parts.layout is not COO:
        if order == list(range(input.dim())):
            return input
        if order != [1, 0]:
            refuse("permute", input)
        return transpose(input, 0, 1)
    sparse = parts.sparse_dim
    if sorted(order[:sparse]) != list(range(sparse)):
        raise RuntimeError("sparse transpose: transposed dimensions must be sparse: sparse and dense dimensions cannot be exchanged")
    values = values_of(input).permute(0, *(d - sparse + 1 for d in order[sparse:]))
    size = [input.shape[d] for d in order]
    same = order[:sparse] == list(range(sparse))
    indices = parts.plain if same else parts.plain[order[:sparse]]
    return with_parts(size, Parts(COO, None, indices, values, parts.coalesced and same))


def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """Two dimensions exchanged."""
    a, b = wrap(dim0, input.dim()), wrap(dim1, input.dim())
    parts = input.parts
    if parts.layout is not COO:
        if a == b:
            return input
        if {a, b} != {0, 1}:
            raise RuntimeError(f"transpose(): can only transpose tensors of layout {parts.layout} along their two sparse dimensions")
        values = values_of(input)
        values = values.transpose(1, 2) if parts.blocks else values
        size = (input.shape[1], input.shape[0], *input.shape[2:])
        return with_parts(size, Parts(TURNED[parts.layout], parts.compressed, parts.plain, values))
    if (a < parts.sparse_dim) != (b < parts.sparse_dim) or (a != b and a >= parts.sparse_dim):
        raise RuntimeError(f"sparse transpose: transposed dimensions must be sparse Got sparse_dim: {parts.sparse_dim}, d0: {a}, d1: {b}")
    order = list(range(input.dim()))
    order[a], order[b] = b, a
    return permute(input, order)


def t(input: Any) -> Any:
    """A matrix turned over."""
    parts = input.parts
    if parts.sparse_dim > 2 or input.dim() > parts.sparse_dim:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got {parts.sparse_dim} sparse and "
            f"{input.dim() - parts.sparse_dim} dense dimensions"
        )
    return transpose(input, 0, 1) if input.dim() == 2 else input


def adjoint(input: Any) -> Any:
    """A matrix turned over, of the conjugates."""
    turned = transpose(input, -2, -1)
    return turned.conj() if input.is_complex() else turned


def unsqueeze(input: Any, dim: int) -> Any:
    """With a dimension of size 1."""
    at = wrap(dim, input.dim() + 1)
    parts = input.parts
    if parts.layout is not COO:
        refuse("unsqueeze", input)
    size = (*input.shape[:at], 1, *input.shape[at:])
    if at > parts.sparse_dim:
        return with_parts(size, parts._replace(values=values_of(input).unsqueeze(at - parts.sparse_dim + 1), coalesced=False))
    row = parts.plain.new_zeros((1, parts.plain.shape[1]))
    indices = torch.cat((parts.plain[:at], row, parts.plain[at:]))
    return with_parts(size, Parts(COO, None, indices, values_of(input)))


# -- parts of a tensor ----------------------------------------------------------------------------


def select(input: Any, dim: int, index: int) -> Any:
    """One slice; dense where no sparse dimension is left."""
    at = wrap(dim, input.dim())
    size = input.shape[at]
    if not -size <= index < size:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(input.shape)} at dimension {at}")
    index %= size
    x = as_coo(input)
    parts, values = x.parts, values_of(x)
    rest = (*x.shape[:at], *x.shape[at + 1 :])
    if at >= parts.sparse_dim:
        return with_parts(rest, parts._replace(values=values.select(at - parts.sparse_dim + 1, index)))
    kept = (parts.plain[at] == index).nonzero().reshape(-1)
    values = values[kept]
    if parts.sparse_dim == 1:
        return values.sum(0) if values.shape[0] else values.new_zeros(rest)
    others = [d for d in range(parts.sparse_dim) if d != at]
    return with_parts(rest, Parts(COO, None, parts.plain[:, kept][others], values, parts.coalesced))


def getitem(input: Any, index: Any) -> Any:
    """input[index], for numbers, None and whole dimensions."""
    items = list(index) if isinstance(index, tuple) else [index]
    if sum(i is Ellipsis for i in items) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if Ellipsis in [i for i in items if i is Ellipsis]:
        place = next(n for n, i in enumerate(items) if i is Ellipsis)
        taken = sum(i is not None and i is not Ellipsis for i in items)
        items[place : place + 1] = [slice(None)] * (input.dim() - taken)
    if sum(i is not None for i in items) > input.dim():
        raise IndexError(f"too many indices for tensor of dimension {input.dim()}")
    x, dim = input, 0
    for item in items:
        if item is None:
            x, dim = unsqueeze(x, dim), dim + 1
        elif isinstance(item, slice):
            if item.indices(x.shape[dim]) != (0, x.shape[dim], 1):
                refuse("as_strided", input)
            dim += 1
        elif isinstance(item, int) and not isinstance(item, bool):
            if not -x.shape[dim] <= item < x.shape[dim]:
                raise IndexError(f"index {item} is out of bounds for dimension {dim} with size {x.shape[dim]}")
            x = select(x, dim, item) if is_sparse(x) else x.select(dim, item)
        else:
            refuse("index.Tensor", input)
    return x


def unbind(input: Any, dim: int = 0) -> tuple[Any, ...]:
    """All slices along a dimension."""
    return tuple(select(input, dim, i) for i in range(input.shape[wrap(dim, input.dim())]))


def index_select(input: Any, dim: int, index: Tensor) -> Any:
    """The slices that index names, in its order."""
    if not isinstance(index, Tensor):
        raise TypeError(f"index_select(): argument 'index' (position 2) must be Tensor, not {type(index).__name__}")
    parts = input.parts
    if parts.layout is not COO:
        refuse("index_select", input)
    at = wrap(dim, input.dim())
    if index.dim() != 1 or index.dtype not in (torch.int64, torch.int32):
        raise IndexError("index_select(): index should be a vector of int32 or int64")
    size = (*input.shape[:at], index.numel(), *input.shape[at + 1 :])
    if at >= parts.sparse_dim:
        return with_parts(size, parts._replace(values=values_of(input).index_select(at - parts.sparse_dim + 1, index)))
    length = input.shape[at]
    if index.numel():
        for bad in (int(index.min()), int(index.max())):
            if not -length <= bad < length:
                raise IndexError(
                    f"index_select(): index contains {bad} that is out of range for tensor of size {list(input.shape)} at dimension {at}"
                )
    index = index.long() % length if length else index.long()
    # The elements of each slice lie side by side in `order`; each index takes all of one slice.
    order, _ = _group_keys(parts.plain[at].contiguous())
    bounds = starts(parts.plain[at], length)
    counts = bounds.diff()[index]
    taker = torch.arange(index.numel(), device=index.device).repeat_interleave(counts)
    within = torch.arange(taker.numel(), device=index.device) - (counts.cumsum(0) - counts)[taker]
    taken = order[bounds[index[taker]] + within]
    indices = parts.plain[:, taken]
    indices[at] = taker
    if parts.coalesced and at:
        again, _ = _group_keys(keys_of(indices, size))
        indices, taken = indices[:, again], taken[again]
    return with_parts(size, Parts(COO, None, indices, values_of(input)[taken], parts.coalesced))


# -- several tensors ------------------------------------------------------------------------------


def cat(tensors: Any, dim: int = 0, *, out: Any = None) -> Any:
    """Tensors one after the other along a dimension."""
    if out is not None:
        refuse("cat.out", next(x for x in (*tensors, out) if is_sparse(x)))
    first = tensors[0]
    for position, x in enumerate(tensors):
        if not is_sparse(x):
            raise RuntimeError(f"Concatenating sparse tensors, but a dense tensor was found at position {position}.")
        if x.parts.layout is not COO:
            refuse("cat", x)
    if not is_sparse(first):
        refuse("cat", next(x for x in tensors if is_sparse(x)))
    at, sparse = wrap(dim, first.dim()), first.parts.sparse_dim
    for position, x in enumerate(tensors):
        if x.dim() != first.dim() or any(a != b for d, (a, b) in enumerate(zip(x.shape, first.shape, strict=True)) if d != at):
            raise RuntimeError(
                f"All tensors must have the same shape: {list(first.shape)} (except in the concatenating dimension), but found shape: "
                f"{list(x.shape)} at position {position}."
            )
        if x.parts.sparse_dim != sparse:
            raise RuntimeError(
                f"All tensors must have the same sparse_dim and dense_dim: {sparse}, {first.dim() - sparse}, but tensor at position {position} "
                f"has {x.parts.sparse_dim}, {x.dim() - x.parts.sparse_dim}."
            )
    lengths = [x.shape[at] for x in tensors]
    size = (*first.shape[:at], sum(lengths), *first.shape[at + 1 :])
    indices, values, before = [], [], 0
    for x, length in zip(tensors, lengths, strict=True):
        places, held = x.parts.plain, values_of(x)
        if at < sparse:
            places = places.clone()
            places[at] += before
        else:
            shape = list(held.shape)
            shape[at - sparse + 1] = before
            after = [*shape]
            after[at - sparse + 1] = sum(lengths) - before - length
            held = torch.cat((held.new_zeros(shape), held, held.new_zeros(after)), at - sparse + 1)
        indices.append(places)
        values.append(held)
        before += length
    return with_parts(size, Parts(COO, None, torch.cat(indices, 1), torch.cat(values)))


def stack(tensors: Any, dim: int = 0, *, out: Any = None) -> Any:
    """Tensors along a new dimension."""
    for x in tensors:
        if not is_sparse(x):
            refuse("stack", next(y for y in tensors if is_sparse(y)))
        if x.shape != tensors[0].shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} at entry 0 and {list(x.shape)}"
            )
    at = wrap(dim, tensors[0].dim() + 1)
    return cat([unsqueeze(x, at) for x in tensors], at, out=out)


def vstack(tensors: Any, *, out: Any = None) -> Any:
    """Matrices below each other."""
    return cat(tensors, 0, out=out)


def hstack(tensors: Any, *, out: Any = None) -> Any:
    """Matrices beside each other."""
    return cat(tensors, 1 if tensors[0].dim() > 1 else 0, out=out)
