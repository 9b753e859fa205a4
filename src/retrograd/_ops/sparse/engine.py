"""What the engine does with sparse gradients: csrc/ops/engine_ops.cpp calls these."""

from __future__ import annotations

from typing import Any

from retrograd import Tensor
from retrograd._ops.sparse import arithmetic, calls, history, writes
from retrograd._ops.sparse.tensor import COO, detached as detach, is_sparse

__all__ = ["add", "add_", "cast_like", "clone", "detach", "to_dense"]

to_dense, clone = history.to_dense, calls.clone


def add(a: Any, b: Any) -> Any:
    """The sum of two gradients: sparse where both are."""
    if is_sparse(a) and is_sparse(b):
        same = a.parts.layout is b.parts.layout
        return arithmetic.add(a if same else history.as_coo(a), b if same else history.as_coo(b))
    return arithmetic.add(b, a) if is_sparse(a) and a.parts.layout is COO else arithmetic.add(a, b)


def add_(a: Any, b: Any) -> Any:
    """The same in place."""
    return writes.add_(a, b)


def cast_like(x: Any, example: Tensor) -> Any:
    return calls.to(x, example.dtype)
