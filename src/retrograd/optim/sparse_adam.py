"""SparseAdam."""

from __future__ import annotations

import math
from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.optim.optimizer import GroupOptimizer, check_betas, directed, scalar

__all__ = ["SparseAdam", "sparse_adam"]


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
            _step(p, directed(p.grad, group["maximize"]), state["exp_avg"], state["exp_avg_sq"], state["step"],
                  beta1=beta1, beta2=beta2, lr=scalar(group["lr"]), eps=group["eps"])  # fmt: skip


def _step(p: Tensor, grad: Any, mean: Tensor, square: Tensor, step: int, *, beta1: float, beta2: float, lr: float, eps: float) -> None:
    """One step of one parameter, where its gradient has elements."""
    grad = grad.coalesce()
    at, values = tuple(grad.indices()), grad.values()
    means = []
    for running, value, beta in ((mean, values, beta1), (square, values * values, beta2)):
        old = running[at]
        means.append(old + (value - old) * (1 - beta))
        running.index_put_(at, means[-1])
    rate = lr * math.sqrt(1 - beta2**step) / (1 - beta1**step)
    p.index_put_(at, means[0] / (means[1].sqrt() + eps) * -rate, accumulate=True)


def sparse_adam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    state_steps: list[int],
    *,
    eps: float,
    beta1: float,
    beta2: float,
    lr: float,
    maximize: bool,
) -> None:
    """A step without an optimizer, which writes the state where it lies; state_steps are the numbers of this step, which it leaves as they are."""
    for p, grad, mean, square, step in zip(params, grads, exp_avgs, exp_avg_sqs, state_steps, strict=True):
        _step(p, directed(grad, maximize), mean, square, step, beta1=beta1, beta2=beta2, lr=scalar(lr), eps=eps)
