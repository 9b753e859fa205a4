"""How gradients pass between a sparse tensor and its values, and what is computed on values alone.

The gradient of a sparse tensor is a sparse tensor with the same places (a place that is there several times is there once), so that it never holds more
than the tensor itself. A sparse tensor in a graph is joined to its values by two nodes, each the derivative of the other: everything
in between is made of ordinary ops on values, which know their own derivatives.
"""

from __future__ import annotations

from typing import Any

import retrograd as torch
from retrograd import _C, Tensor
from retrograd._ops.sparse.tensor import COO, CSC, CSR, Parts, detached, is_sparse, make
from retrograd.autograd import Function

_group_keys = _C._ops._group_keys


class Values(Function):
    """The values of a sparse tensor."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Tensor:
        ctx.set_materialize_grads(False)
        ctx.like = detached(x)
        return x.parts.values.detach()

    @staticmethod
    def backward(ctx: Any, grad: Tensor | None) -> Any:
        if grad is None:
            return None
        like = ctx.like
        if like.parts.layout is COO and not like.parts.coalesced:
            first = first_places(like)
            return with_parts(like.shape, Parts(COO, None, like.parts.plain[:, first], grad[first], True))
        return with_values(like, grad)


class MakeSparse(Function):
    """A sparse tensor of values."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, size: Any, parts: Parts) -> Any:
        ctx.set_materialize_grads(False)
        ctx.like = make(size, parts)
        return make(size, parts)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return None if grad is None else values_at(grad, ctx.like), None, None


def values_of(x: Any) -> Tensor:
    """The values of a sparse tensor, differentiable."""
    if x.requires_grad and _C.is_grad_enabled():
        return Values.apply(x)
    return x.parts.values.detach()


def with_parts(size: Any, parts: Parts) -> Any:
    """A sparse tensor whose values may have a history."""
    values = parts.values
    plain = parts._replace(values=values.detach(), coalesced=parts.coalesced or (parts.layout is COO and values.shape[0] < 2))
    if values.requires_grad and _C.is_grad_enabled():
        return MakeSparse.apply(values, tuple(size), plain)
    return make(size, plain)


def with_values(x: Any, values: Tensor) -> Any:
    """A sparse tensor with the places of x, and other values."""
    return with_parts(x.shape, x.parts._replace(values=values))


# -- places ---------------------------------------------------------------------------------------


def places(x: Any) -> Tensor:
    """The indices of all elements, [2 or more, nnz]; not of blocks."""
    parts = x.parts
    if parts.layout is COO:
        return parts.plain
    counts = parts.compressed.diff().long()
    expanded = torch.arange(counts.numel(), device=counts.device).repeat_interleave(counts)
    plain = parts.plain.long()
    return torch.stack((expanded, plain) if parts.layout is CSR else (plain, expanded))


def keys_of(indices: Tensor, size: Any) -> Tensor:
    """A number for each place, in row-major order."""
    key = torch.zeros(indices.shape[1], dtype=torch.int64, device=indices.device)
    for d in range(indices.shape[0]):
        key = key * size[d] + indices[d] if d else indices[0]
    return key


def group(keys: Tensor) -> tuple[Tensor, Tensor, int]:
    """The order that sorts keys, the number of each among the different ones, and how many there are."""
    order, number = _group_keys(keys)
    return order, number, int(number[order[-1]]) + 1 if order.numel() else 0


def first_places(x: Any) -> Tensor:
    """Which elements are the first at their place, in the order of places."""
    order, number, _ = group(keys_of(x.parts.plain, x.shape))
    numbers = number[order]
    starts = torch.ones_like(order, dtype=torch.bool)
    starts[1:] = numbers[1:] != numbers[:-1]
    return order[starts]


def coalesced(x: Any) -> Any:
    """x with every place once, in order: the sums of values that share one."""
    parts = x.parts
    if parts.coalesced:
        return x
    if not parts.plain.shape[0]:  # no sparse dimensions: all values are at the one place there is
        values = values_of(x)
        if values.shape[0] > 1:
            values = values.sum(0, keepdim=True)
        return with_parts(x.shape, Parts(COO, None, parts.plain[:, : values.shape[0]], values, True))
    keys = keys_of(parts.plain, x.shape)
    order, number, count = group(keys)
    values = values_of(x)
    if count == keys.numel():
        return with_parts(x.shape, Parts(COO, None, parts.plain[:, order], values[order], True))
    indices = torch.empty((parts.plain.shape[0], count), dtype=torch.int64, device=keys.device)
    indices[:, number] = parts.plain
    sums = torch.zeros((count, *values.shape[1:]), dtype=values.dtype, device=values.device)
    if values.dtype is torch.bool:
        sums = sums.index_put((number,), values, accumulate=True)
    else:
        sums = sums.index_add(0, number, values)
    return with_parts(x.shape, Parts(COO, None, indices, sums, True))


def as_coo(x: Any) -> Any:
    """x in COO layout; blocks are spread over their elements."""
    parts = x.parts
    if parts.layout is COO:
        return x
    values = values_of(x)
    if parts.layout in (CSR, CSC):
        indices = places(x)
        if parts.layout is CSC:
            order = _group_keys(keys_of(indices, x.shape))[0]
            indices, values = indices[:, order], values[order]
        return with_parts(x.shape, Parts(COO, None, indices, values, True))
    height, width = parts.blocks
    counts = parts.compressed.diff().long()
    expanded = torch.arange(counts.numel(), device=counts.device).repeat_interleave(counts)
    plain = parts.plain.long()
    across, down = (expanded, plain) if parts.layout is _C.sparse_bsr else (plain, expanded)
    rows = (across * height)[:, None, None] + torch.arange(height)[None, :, None] + torch.zeros(width, dtype=torch.int64)
    columns = (down * width)[:, None, None] + torch.arange(width)[None, None, :] + torch.zeros((height, 1), dtype=torch.int64)
    indices = torch.stack((rows.reshape(-1), columns.reshape(-1)))
    spread = with_parts(x.shape, Parts(COO, None, indices, values.flatten(0, 2)))
    return coalesced(spread)


def values_at(x: Any, like: Any) -> Tensor:
    """The elements of x, sparse or not, at the places of a sparse tensor, in its order; 0 where a sparse x has none."""
    if like.parts.blocks is not None:
        height, width = like.parts.blocks
        dense = to_dense(x) if is_sparse(x) else x
        tiles = dense.reshape(dense.shape[0] // height, height, dense.shape[1] // width, width, *dense.shape[2:]).transpose(1, 2)
        counts = like.parts.compressed.diff().long()
        expanded = torch.arange(counts.numel(), device=counts.device).repeat_interleave(counts)
        plain = like.parts.plain.long()
        return tiles[(expanded, plain) if like.parts.layout is _C.sparse_bsr else (plain, expanded)]
    if not is_sparse(x):
        return x[tuple(places(like))] if like.parts.sparse_dim else x[None].expand(like.parts.values.shape)
    if x.parts.plain is like.parts.plain and x.parts.layout is like.parts.layout:
        return values_of(x)
    x = coalesced(as_coo(x))
    wanted = keys_of(places(like), like.shape)
    values = values_of(x)
    if not values.shape[0]:
        return values.new_zeros((wanted.numel(), *values.shape[1:]))
    held = keys_of(x.parts.plain, x.shape)
    at = torch.searchsorted(held, wanted).clamp(max=held.numel() - 1)
    found = held[at] == wanted
    return torch.where(found.reshape(-1, *(1,) * (values.dim() - 1)), values[at], values.new_zeros(()))


def to_dense(x: Any) -> Tensor:
    """All elements."""
    x = as_coo(x)
    indices, values = x.parts.plain, values_of(x)
    zeros = torch.zeros(tuple(x.shape), dtype=x.dtype, device=x.device)
    if not indices.shape[0]:
        return values.sum(0) if values.dtype is not torch.bool else values.any(0)
    return zeros.index_put(tuple(indices), values, accumulate=not x.parts.coalesced)
