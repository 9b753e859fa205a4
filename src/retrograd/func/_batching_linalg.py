"""Products of matrices, and decompositions, which take leading dimensions as a batch already."""

from __future__ import annotations

import math
from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.func._batching import Batch, Flags, Rule, Values, examples_like, loop, maker, padded, rank, rule, wrap_dim

_ops = _C._ops


def _ranks(values: Values, batched: Flags, *places: int) -> tuple[int, ...]:
    return tuple([values[i].ndim - batched[i] for i in places])


def _product(first: Tensor, first_batched: bool, second: Tensor, second_batched: bool) -> Tensor:
    """A product of examples that are matrices, or a matrix and a vector."""
    if second.ndim - second_batched == 1:
        if first.ndim - first_batched == 1:  # two vectors
            if first_batched and second_batched:
                return _ops.bmm(first.unsqueeze(1), second.unsqueeze(2)).view(first.shape[:1])
            return _ops.mv(first, second) if first_batched else _ops.mv(second, first)
        if first_batched and second_batched:
            return _ops.bmm(first, second.unsqueeze(2)).squeeze(2)
        return _ops.matmul(first, second) if first_batched else _ops.mm(second, first.t())
    if first_batched and second_batched:
        return _ops.bmm(first, second)
    return _ops.matmul(first, second)


@maker("product")
def _matrix_product(op: Any, first_rank: str, second_rank: str, conjugated: str = "") -> Rule:
    wanted = (int(first_rank), int(second_rank))

    def run(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
        if _ranks(values, batched, 0, 1) != wanted or values[0].dtype is not values[1].dtype:
            return loop(batch, op, values, batched)  # an error
        if values[0].shape[-1] != values[1].shape[-min(2, wanted[1])]:
            return loop(batch, op, values, batched)
        first = values[0].conj() if conjugated else values[0]
        return _product(first, batched[0], values[1], batched[1])

    return run


@rule("transposed_product")
def _transposed_product(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    if _ranks(values, batched, 0, 1) != (2, 2) or values[0].dtype is not values[1].dtype:
        return loop(batch, op, values, batched)  # an error
    first, second = (value.mT if turn else value for value, turn in zip(values[:2], values[2:4], strict=True))
    if values[4]:  # laid out column by column
        return _product(second.mT, batched[1], first.mT, batched[0]).mT
    return _product(first, batched[0], second, batched[1])


@rule("linear")
def _linear(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    value, weight, bias = values
    if batched[0] and not batched[1] and not batched[2]:  # the rows of all examples are the rows of one matrix
        return op(value, weight, bias)
    value = batch.full(value, batched[0])
    rows = value.reshape(batch.size, math.prod(value.shape[1:-1]), value.shape[-1])
    result = _ops.matmul(rows, weight.mT)
    result = result.view((*value.shape[:-1], result.shape[-1]))
    return result if bias is None else result + (padded(bias, value.ndim - 1) if batched[2] else bias)


@rule("bmm")
def _bmm(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    first, second = batch.full(values[0], batched[0]), batch.full(values[1], batched[1])
    if first.ndim != 4 or second.ndim != 4 or first.shape[1] != second.shape[1] or first.shape[3] != second.shape[2]:
        return loop(batch, op, values, batched)
    result = op(first.flatten(0, 1), second.flatten(0, 1))
    return result.view((*first.shape[:2], *result.shape[1:]))


def _then_written(rule: Rule) -> Rule:
    """In place: the op that is not, then copied. A batch of matrices has no kernel that accumulates in strided memory."""

    def run(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
        if not op.mutates:
            return rule(batch, op, values, batched)
        values[0].copy_(rule(batch, op.functional, values.copy(), batched))
        return None

    return run


@rule("addmm")
@_then_written
def _addmm(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    target, first, second, beta, alpha = values
    if _ranks(values, batched, 1, 2) != (2, 2) or first.shape[-1] != second.shape[-2] or not _one_dtype(values):
        return loop(batch, op, values, batched)
    if batched[1] and not batched[2] and not batched[0] and (target.ndim < 2 or target.shape[0] == 1):
        # A linear layer: the rows of all examples are the rows of one matrix.
        result = op(target, first.flatten(0, 1), second, beta, alpha)
        return result.view((*first.shape[:2], result.shape[1]))
    full = padded(target, 2) if batched[0] else target
    return _ops.baddbmm(full, batch.full(first, batched[1]), batch.full(second, batched[2]), beta=beta, alpha=alpha)


def _one_dtype(values: Values) -> bool:
    return len({v.dtype for v in values if isinstance(v, Tensor)}) == 1


@maker("added_product")
def _added_product(op: Any, first_rank: str, second_rank: str, summed: str = "") -> Rule:
    wanted = (int(first_rank), int(second_rank))

    @_then_written
    def run(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
        target, _, _, beta, alpha = values
        if _ranks(values, batched, 1, 2) != wanted or not _one_dtype(values) or beta == 0:
            return loop(batch, op, values, batched)
        result = _bare_product(batch, values, batched)
        if result is not None and summed:
            result = result.sum(1)
        if result is None or rank(target, batched[0]) > result.ndim - 1:
            return loop(batch, op, values, batched)
        shape = result.shape
        if alpha != 1:
            result = result * alpha
        result = result.add(padded(target, result.ndim - 1) if batched[0] else target, alpha=beta)
        return result if result.shape == shape else loop(batch, op, values, batched)

    return run


def _bare_product(batch: Batch, values: Values, batched: Flags) -> Tensor | None:
    """Of two vectors (all pairs), a matrix and a vector, or two batches of matrices."""
    _, first, second = values[:3]
    first_batched, second_batched = batched[1:3]
    if not first_batched and not second_batched:
        first, first_batched = batch.full(first, False), True
    ranks = (first.ndim - first_batched, second.ndim - second_batched)
    if ranks == (1, 1):
        return batch.full(first, first_batched).unsqueeze(2) * batch.full(second, second_batched).unsqueeze(1)
    if ranks == (2, 1):
        return _product(first, first_batched, second, second_batched) if first.shape[-1] == second.shape[-1] else None
    if first.shape[-1] != second.shape[-2] or first.shape[-3] != second.shape[-3]:
        return None
    return _ops.matmul(*examples_like((first, second), (first_batched, second_batched)))


@rule("cross")
def _cross(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    first, second = examples_like(values[:2], batched[:2])
    if values[0].ndim - batched[0] != values[1].ndim - batched[1] or _ranks(values, batched, 0) == (0,):
        return loop(batch, op, values, batched)
    first, second = batch.full(first, batched[0]), batch.full(second, batched[1])
    return op(first, second, dim=wrap_dim(values[2], first.ndim - 1))


@rule("qr")
def _qr(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
    q, r = op(*values) if values[0].ndim >= 3 else loop(batch, op, values, batched)
    return (q.new_empty((batch.size, 0)), r) if values[1] == "r" else (q, r)


@rule("solve")
def _solve(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
    matrix, right, left = values
    shapes = [v.shape[1:] if b else v.shape for v, b in zip(values[:2], batched, strict=False)]
    if len(shapes[0]) < 2 or not shapes[1]:
        return loop(batch, op, values, batched)
    vector = len(shapes[1]) == 1 or (len(shapes[0]) - 1 == len(shapes[1]) and shapes[1] == shapes[0][:-1])
    matrix, right = batch.full(matrix, batched[0]), batch.full(right, batched[1])
    if not vector:
        ndim = max(matrix.ndim, right.ndim) - 1
        return op(padded(matrix, ndim), padded(right, ndim), left=left)
    if not left:
        return loop(batch, op, values, batched)
    right = right.unsqueeze(-1)
    ndim = max(matrix.ndim, right.ndim) - 1
    result, info = op(padded(matrix, ndim), padded(right, ndim), left=left)
    return result.squeeze(-1), info


@rule("solve_triangular")
def _solve_triangular(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    if min(_ranks(values, batched, 0, 1)) < 2:
        return loop(batch, op, values, batched)
    first, second = batch.full(values[0], batched[0]), batch.full(values[1], batched[1])
    ndim = max(first.ndim, second.ndim) - 1
    return op(padded(first, ndim), padded(second, ndim), *values[2:])
