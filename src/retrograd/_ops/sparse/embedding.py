"""Tables of rows whose gradient is sparse: the rows that were read."""

from __future__ import annotations

from typing import Any

from retrograd import _C, Tensor
from retrograd._ops.sparse.history import with_parts
from retrograd._ops.sparse.tensor import COO, Parts
from retrograd.autograd import Function


class Embedding(Function):
    """Rows of a table. The gradient of the row `padding`, if there is one, is left out."""

    @staticmethod
    def forward(weight: Tensor, indices: Tensor, padding: int | None, by_frequency: bool) -> Tensor:
        return _C._ops.embedding(weight, indices)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        weight, ctx.indices, ctx.padding, ctx.by_frequency = inputs
        ctx.size = tuple(weight.shape)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        if ctx.by_frequency:
            raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
        indices, rows = ctx.indices.reshape(-1).long(), grad.reshape(-1, ctx.size[1])
        if ctx.padding is not None:
            kept = (indices != ctx.padding).nonzero().reshape(-1)
            indices, rows = indices[kept], rows[kept]
        else:
            rows = rows.clone()  # who writes to the gradient of a weight, a gradient scaler, say, must not write to that of others
        return with_parts(ctx.size, Parts(COO, None, indices.unsqueeze(0), rows)), None, None, None

    @staticmethod
    def jvp(ctx: Any, weight: Tensor, *_: Any) -> Tensor:
        return _C._ops.embedding(weight, ctx.indices)
