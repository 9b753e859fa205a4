"""SparseAdam."""

from __future__ import annotations

import math
from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.optim.optimizer import GroupOptimizer, check_betas, directed, scalar

__all__ = ["SparseAdam"]


class SparseAdam(GroupOptimizer):
    """Adam that steps, and keeps its means, only where a sparse gradient has elements."""

    _takes_sparse = True

    _step_is_a_tensor = False

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})

        sparse = [[g, i] for g, group in enumerate(self.param_groups) for i, p in enumerate(group["params"]) if p.layout is not _C.strided]
        if sparse:
            raise ValueError(f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors")

    def _step_group(self, group: dict[str, Any]) -> None:
        beta1, beta2 = (scalar(beta) for beta in group["betas"])
        for p in group["params"]:
            if p.grad is None:
                continue
            if p.grad.layout is not _C.sparse_coo:
                raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
            state = self.state[p]
            if not state:
                state.update(step=0, exp_avg=_C._ops.zeros_like(p), exp_avg_sq=_C._ops.zeros_like(p))
            state["step"] += 1
            grad = directed(p.grad, group["maximize"]).coalesce()
            at, values = tuple(grad.indices()), grad.values()
            means = []
            for name, value, beta in (("exp_avg", values, beta1), ("exp_avg_sq", values * values, beta2)):
                old = state[name][at]
                means.append(old + (value - old) * (1 - beta))
                state[name].index_put_(at, means[-1])
            rate = scalar(group["lr"]) * math.sqrt(1 - beta2 ** state["step"]) / (1 - beta1 ** state["step"])
            p.index_put_(at, means[0] / (means[1].sqrt() + group["eps"]) * -rate, accumulate=True)
