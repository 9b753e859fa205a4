"""Sums and softmax of sparse tensors."""

from __future__ import annotations

from typing import Any

import retrograd as torch
from retrograd import Tensor
from retrograd._ops.sparse.construct import converted
from retrograd._ops.sparse.history import as_coo, coalesced, group, keys_of, values_of, with_parts, with_values
from retrograd._ops.sparse.shape import wrap
from retrograd._ops.sparse.tensor import COO, WORDS, Parts, is_sparse, refuse


def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum of all elements, or along dimensions: sparse where a sparse dimension is left."""
    dims = () if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if input.parts.layout is not COO and dims:
        if not keepdim:
            raise RuntimeError("reduction operations on CSR tensors with keepdim=False is unsupported")
        return converted(_sum_dims(as_coo(input), dims, True, dtype), input.parts.layout, input.parts.blocks and (1, 1))
    if not dims:
        values = values_of(input)
        return values.sum(dtype=dtype) if dtype is not None else values.sum()
    return _sum_dims(input, dims, keepdim, dtype)


def _sum_dims(x: Any, dims: tuple[int, ...], keepdim: bool, dtype: Any) -> Any:
    sparse, count = x.parts.sparse_dim, x.dim()
    gone = sorted({wrap(d, count) for d in dims})
    if len(gone) != len(dims):
        raise RuntimeError(f"dim {dims} appears multiple times in the list of dims")
    values = values_of(x)
    dense = [d - sparse + 1 for d in gone if d >= sparse]
    if dense:
        values = values.sum(dense, keepdim=keepdim, dtype=dtype)
    elif dtype is not None:
        values = values.to(dtype)
    elif not values.is_floating_point() and not values.is_complex():
        values = values.long()
    size = [1 if d in gone else s for d, s in enumerate(x.shape) if keepdim or d not in gone]
    left = [d for d in range(sparse) if d not in gone]
    if len(left) == sparse:
        return with_parts(size, x.parts._replace(values=values))
    if not left and not keepdim:
        return values.sum(0)
    if keepdim:
        indices = x.parts.plain.clone()
        indices[[d for d in gone if d < sparse]] = 0
    else:
        indices = x.parts.plain[left]
    return coalesced(with_parts(size, Parts(COO, None, indices, values)))


def sparse_sum(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """torch.sparse.sum."""
    if not is_sparse(input) or input.parts.layout is not COO:
        if is_sparse(input) and dim is not None:
            refuse("_indices", input)
        raise RuntimeError(f"coalesce expected sparse coordinate tensor layout but got {WORDS[input.layout]}")
    return sum(input, dim, dtype=input.dtype if dtype is None and dim is not None else dtype)


def softmax(input: Any, dim: int, *, dtype: Any = None, log: bool = False) -> Any:
    """Softmax of the elements that are there: those that are not count as minus infinity."""
    name = "_sparse_log_softmax" if log else "_sparse_softmax"
    if not is_sparse(input):
        raise NotImplementedError(f"Could not run 'aten::{name}' with arguments from the 'CPU' backend: it takes sparse tensors")
    if input.parts.layout is not COO:
        refuse(name, input)
    at = wrap(dim, input.dim())
    x = coalesced(input)
    values = values_of(x)
    values = values if dtype is None else values.to(dtype)
    sparse = x.parts.sparse_dim
    if at >= sparse:
        along = at - sparse + 1
        return with_values(x, values.log_softmax(along) if log else values.softmax(along))
    others = [d for d in range(sparse) if d != at]
    keys = keys_of(x.parts.plain[others], [x.shape[d] for d in others]) if others else torch.zeros_like(x.parts.plain[0])
    _, number, count = group(keys)
    largest = values.new_zeros((count, *values.shape[1:])).index_reduce(0, number, values.detach(), "amax", include_self=False)
    shifted = values - largest[number]
    total: Tensor = values.new_zeros(largest.shape).index_add(0, number, shifted.exp())
    return with_values(x, shifted - total.log()[number] if log else shifted.exp() / total[number])
