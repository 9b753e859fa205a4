"""Products of matrices, and decompositions, which take leading dimensions as a batch already."""

from __future__ import annotations

import math
from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.func._batching import Batch, Flags, Values, examples_like, loop, padded, rank, rule, wrap_dim

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


@rule("mm", "mv", "dot", "vdot")
def _matrix_product(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    wanted = {"mm": (2, 2), "mv": (2, 1)}.get(op.name, (1, 1))
    if _ranks(values, batched, 0, 1) != wanted or values[0].dtype is not values[1].dtype:
        return loop(batch, op, values, batched)  # an error
    if values[0].shape[-1] != values[1].shape[-min(2, wanted[1])]:
        return loop(batch, op, values, batched)
    first = values[0].conj() if op.name == "vdot" else values[0]
    return _product(first, batched[0], values[1], batched[1])


@rule("_mm")
def _transposed_product(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    if _ranks(values, batched, 0, 1) != (2, 2) or values[0].dtype is not values[1].dtype:
        return loop(batch, op, values, batched)  # an error
    first, second = (value.mT if turn else value for value, turn in zip(values[:2], values[2:4], strict=True))
    if values[4]:  # laid out column by column
        return _product(second.mT, batched[1], first.mT, batched[0]).mT
    return _product(first, batched[0], second, batched[1])


@rule("_linear")
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


@rule("addmm")
def _addmm(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    target, first, second, beta, alpha = values
    if _ranks(values, batched, 1, 2) != (2, 2) or first.shape[-1] != second.shape[-2] or not _one_dtype(values):
        return loop(batch, op, values, batched)
    if batched[1] and not batched[2] and not batched[0] and (target.ndim < 2 or target.shape[0] == 1):
        # A linear layer: the rows of all examples are the rows of one matrix.
        result = op(target, first.flatten(0, 1), second, beta=beta, alpha=alpha)
        return result.view((*first.shape[:2], result.shape[1]))
    full = padded(target, 2) if batched[0] else target
    return _ops.baddbmm(full, batch.full(first, batched[1]), batch.full(second, batched[2]), beta=beta, alpha=alpha)


def _one_dtype(values: Values) -> bool:
    return len({v.dtype for v in values if isinstance(v, Tensor)}) == 1


@rule("addmv", "addr", "addbmm", "baddbmm")
def _added_product(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    target, _, _, beta, alpha = values
    wanted = {"addmv": (2, 1), "addr": (1, 1), "addbmm": (3, 3), "baddbmm": (3, 3)}[op.name]
    if _ranks(values, batched, 1, 2) != wanted or not _one_dtype(values) or beta == 0:
        return loop(batch, op, values, batched)
    result = _bare_product(op.name, batch, values, batched)
    if result is None or rank(target, batched[0]) > result.ndim - 1:
        return loop(batch, op, values, batched)
    shape = result.shape
    if alpha != 1:
        result = result * alpha
    result = result.add(padded(target, result.ndim - 1) if batched[0] else target, alpha=beta)
    return result if result.shape == shape else loop(batch, op, values, batched)


def _bare_product(name: str, batch: Batch, values: Values, batched: Flags) -> Tensor | None:
    _, first, second = values[:3]
    if not batched[1] and not batched[2]:
        first = batch.full(first, False)
        batched[1] = True
    if name == "addr":
        return batch.full(first, batched[1]).unsqueeze(2) * batch.full(second, batched[2]).unsqueeze(1)
    if name == "addmv":
        return _product(first, batched[1], second, batched[2]) if first.shape[-1] == second.shape[-1] else None
    if first.shape[-1] != second.shape[-2] or first.shape[-3] != second.shape[-3]:
        return None
    result = _ops.matmul(*examples_like((first, second), batched[1:3]))
    return result.sum(1) if name == "addbmm" else result


@rule("addmm_", "addmv_", "addr_", "addbmm_", "baddbmm_")
def _added_product_inplace(batch: Batch, op: Any, values: Values, batched: Flags) -> None:
    """The op that is not in place, then copied: a batch of matrices has no kernel that accumulates in strided memory."""
    outer = _OutOfPlace(op.name[:-1])
    result = (_addmm if outer.name == "addmm" else _added_product)(batch, outer, values, batched)
    values[0].copy_(result)


class _OutOfPlace:
    """An op of the table by name, called as handlers call ops: all arguments by position."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.function = getattr(_ops, name)

    def __call__(self, target: Tensor, first: Tensor, second: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
        return self.function(target, first, second, beta=beta, alpha=alpha)


@rule("linalg_cross")
def _cross(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    first, second = examples_like(values[:2], batched[:2])
    if values[0].ndim - batched[0] != values[1].ndim - batched[1] or _ranks(values, batched, 0) == (0,):
        return loop(batch, op, values, batched)
    first, second = batch.full(first, batched[0]), batch.full(second, batched[1])
    return op(first, second, dim=wrap_dim(values[2], first.ndim - 1))


@rule("linalg_qr")
def _qr(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
    q, r = _decomposition(batch, op, values, batched)
    return (q.new_empty((batch.size, 0)), r) if values[1] == "r" else (q, r)


@rule(
    "linalg_inv_ex", "linalg_det", "linalg_slogdet", "linalg_cholesky_ex", "linalg_lu_factor_ex", "_linalg_eig", "_linalg_eigh", "_linalg_svd",
    "linalg_pinv", "_lu_permutation", "geqrf", "linalg_ldl_factor_ex",
)  # fmt: skip
def _decomposition(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
    fits = values[0].ndim >= (2 if op.name == "_lu_permutation" else 3)
    return op(*values) if fits else loop(batch, op, values, batched)


@rule("linalg_solve_ex")
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


@rule("linalg_solve_triangular")
def _solve_triangular(batch: Batch, op: Any, values: Values, batched: Flags) -> Tensor:
    if min(_ranks(values, batched, 0, 1)) < 2:
        return loop(batch, op, values, batched)
    first, second = batch.full(values[0], batched[0]), batch.full(values[1], batched[1])
    ndim = max(first.ndim, second.ndim) - 1
    return op(padded(first, ndim), padded(second, ndim), *values[2:])
